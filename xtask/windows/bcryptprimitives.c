/* Debian 12's Wine has no bcryptprimitives.dll, from which Rust's standard library takes its random numbers. For tests under Wine alone. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    return SystemFunction036(data, (ULONG)length);
}
