/* Only the reply reader is used. The module Transport makes the connections, so TLS needs no hiredis_ssl. */
#include <hiredis/read.h>
