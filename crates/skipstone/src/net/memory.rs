//! Memory of the process.

/// Gives unused memory of the allocator back to the system: glibc's heaps shrink only at their end, where a small
/// allocation may lie (malloc_trim(3)). Takes about 0.1 ms for each MiB that is given back, and threads that allocate
/// wait for that long. Returns at once where there is no glibc.
pub fn release_unused() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    super::linux::trim_heaps();
}
