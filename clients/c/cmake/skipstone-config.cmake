# find_package(skipstone) gives the targets skipstone::skipstone (shared) and skipstone::static, of those that are installed.
get_filename_component(skipstone_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_package(Threads REQUIRED)

if(NOT TARGET skipstone::skipstone)
  find_file(skipstone_SHARED NAMES libskipstone.so libskipstone.dylib skipstone.dll
            PATHS "${skipstone_prefix}/lib" "${skipstone_prefix}/bin" NO_DEFAULT_PATH NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
  find_file(skipstone_IMPORT NAMES libskipstone.dll.a skipstone.dll.lib
            PATHS "${skipstone_prefix}/lib" NO_DEFAULT_PATH NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
  if(skipstone_SHARED)
    add_library(skipstone::skipstone SHARED IMPORTED)
    set_target_properties(skipstone::skipstone PROPERTIES
      IMPORTED_LOCATION "${skipstone_SHARED}"
      INTERFACE_INCLUDE_DIRECTORIES "${skipstone_prefix}/include")
    if(skipstone_IMPORT)
      set_target_properties(skipstone::skipstone PROPERTIES IMPORTED_IMPLIB "${skipstone_IMPORT}")
    endif()
  endif()
endif()

if(NOT TARGET skipstone::static)
  find_file(skipstone_STATIC NAMES libskipstone.a skipstone.lib
            PATHS "${skipstone_prefix}/lib" NO_DEFAULT_PATH NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
  if(skipstone_STATIC)
    add_library(skipstone::static STATIC IMPORTED)
    set_target_properties(skipstone::static PROPERTIES
      IMPORTED_LOCATION "${skipstone_STATIC}"
      INTERFACE_INCLUDE_DIRECTORIES "${skipstone_prefix}/include"
      INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS}")
    # What Rust's standard library needs of the system.
    if(WIN32)
      set_property(TARGET skipstone::static APPEND PROPERTY INTERFACE_LINK_LIBRARIES
        ws2_32 userenv bcrypt ntdll crypt32 secur32 ncrypt)
    elseif(APPLE)
      set_property(TARGET skipstone::static APPEND PROPERTY INTERFACE_LINK_LIBRARIES
        "-framework Security" "-framework CoreFoundation")
    else()
      set_property(TARGET skipstone::static APPEND PROPERTY INTERFACE_LINK_LIBRARIES m)
    endif()
  endif()
endif()

if(TARGET skipstone::skipstone OR TARGET skipstone::static)
  set(skipstone_FOUND TRUE)
else()
  set(skipstone_FOUND FALSE)
  set(skipstone_NOT_FOUND_MESSAGE "no library of Skipstone in ${skipstone_prefix}")
endif()
