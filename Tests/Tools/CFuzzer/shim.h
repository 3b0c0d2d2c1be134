#pragma once
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's loop for programs with a main of their own; it comes with the compiler and has no header. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
