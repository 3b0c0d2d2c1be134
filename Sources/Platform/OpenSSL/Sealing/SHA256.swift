import COpenSSL

/// SHA-256 with reusable state. An instance searches for OpenSSL's algorithm only once, and ``hash(_:into:)`` needs no
/// allocation.
package struct SHA256: ~Copyable {
    package static let length = 32

    private let algorithm = DigestAlgorithm()
    private let state: OpaquePointer

    package init() {
        state = allocated(EVP_MD_CTX_new())
    }

    /// - Parameter digest: room for 32 bytes.
    package mutating func hash(_ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer) {
        precondition(digest.count >= Self.length, "a digest has 32 bytes")
        guard EVP_DigestInit_ex2(state, algorithm.pointer, nil) == 1,
            EVP_DigestUpdate(state, bytes.baseAddress, bytes.count) == 1,
            EVP_DigestFinal_ex(state, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
        else { preconditionFailure("OpenSSL cannot hash: \(OpenSSLFailure.taken().text)") }
    }

    package mutating func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.length)
        bytes.withUnsafeBytes { bytes in
            digest.withUnsafeMutableBytes { hash(bytes, into: $0) }
        }
        return digest
    }

    /// Hashes `bytes` for callers that have no instance. Each call searches for OpenSSL's algorithm, so a frequent caller should
    /// keep an instance of ``SHA256``.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        return hash.hash(bytes)
    }

    deinit { EVP_MD_CTX_free(state) }
}

/// Owns OpenSSL's SHA-256 algorithm object. OpenSSL's search for the algorithm by its name costs more than the hash of a few
/// bytes, so an instance of ``SHA256`` searches once.
struct DigestAlgorithm: ~Copyable {
    let pointer: OpaquePointer

    init() {
        pointer = allocated(EVP_MD_fetch(nil, "SHA2-256", nil))
    }

    deinit { EVP_MD_free(pointer) }
}
