/* Only the reply reader is used; connections are our own (Transport), so that TLS needs no hiredis_ssl. */
#include <hiredis/read.h>
