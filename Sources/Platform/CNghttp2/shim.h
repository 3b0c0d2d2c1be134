/* libnghttp2, 1.52 or later. Swift can import all calls and constants that are used, so no shims are needed. */
#include <nghttp2/nghttp2.h>
