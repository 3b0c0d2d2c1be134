#include <uv.h>
#ifdef __linux__
#include <sys/prctl.h>

/* prctl takes a variable number of arguments, which Swift does not import. */
static inline int linux_set_dumpable(unsigned long dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }
#endif
