/* The processor this runs on. */
#include "kernel.h"

/* Which build suits this processor: the level of x86-64, or 0. */
EXPORT int kernel_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("popcnt") || !__builtin_cpu_supports("sse4.2"))
        return 1;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")
        || !__builtin_cpu_supports("fma"))
        return 2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")
        || !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq")
        || !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512vpopcntdq"))
        return 3;
    return 4;
#else
    return 0;
#endif
}
