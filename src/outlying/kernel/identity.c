/* Which version and source this build is made of; see build.py. */
#include "kernel.h"

EXPORT const char identity[] = IDENTITY;
