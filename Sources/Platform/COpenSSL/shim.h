#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/rand.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/x509v3.h>

/* Macros over SSL_ctrl and SSL_CTX_ctrl. */
static inline long copenssl_set_sni(SSL *s, const char *host) { return SSL_set_tlsext_host_name(s, host); }
static inline long copenssl_ctx_set_min_version(SSL_CTX *c, int v) { return SSL_CTX_set_min_proto_version(c, v); }
static inline long copenssl_ctx_set_max_version(SSL_CTX *c, int v) { return SSL_CTX_set_max_proto_version(c, v); }
static inline long copenssl_ctx_set_mode(SSL_CTX *c, long mode) { return SSL_CTX_set_mode(c, mode); }
static inline long copenssl_ctx_set_session_cache_mode(SSL_CTX *c, long m) { return SSL_CTX_set_session_cache_mode(c, m); }
static inline void copenssl_ctx_set_read_ahead(SSL_CTX *c, int on) { SSL_CTX_set_read_ahead(c, on); }
static inline long copenssl_ctx_add1_chain_cert(SSL_CTX *c, X509 *x) { return SSL_CTX_add1_chain_cert(c, x); }

/* Macros whose values are casts. */
static const uint64_t copenssl_op_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const uint64_t copenssl_op_no_ticket = SSL_OP_NO_TICKET;
static const uint64_t copenssl_op_cipher_server_preference = SSL_OP_CIPHER_SERVER_PREFERENCE;
static const unsigned long copenssl_xn_flag_rfc2253 = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;
