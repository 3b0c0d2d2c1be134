/* libnghttp2, 1.52 or later. Nothing here: every call and constant that we use can be imported as it is. */
#include <nghttp2/nghttp2.h>
