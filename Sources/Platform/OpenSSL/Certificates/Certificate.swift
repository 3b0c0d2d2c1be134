import COpenSSL
import PushModel

/// The fields of an X.509 certificate, copied out of OpenSSL's object once.
package struct Certificate: Hashable, Sendable {
    package struct Extension: Hashable, Sendable {
        /// The dotted identifier, such as "1.2.840.113635.100.6.3.1".
        package let identifier: String
        package let isCritical: Bool
        /// The DER bytes inside the octet string.
        package let value: [UInt8]

        package init(identifier: String, isCritical: Bool = false, value: [UInt8]) {
            self.identifier = identifier
            self.isCritical = isCritical
            self.value = value
        }
    }

    package let der: [UInt8]
    /// The complete subject on one line, as in RFC 2253.
    package let subject: String
    package let issuer: String
    package let commonName: String?
    /// The subject's UID attribute (0.9.2342.19200300.100.1.1): the default topic of an APNs certificate.
    package let userID: String?
    /// The serial number in lower-case hex.
    package let serialNumber: String
    /// The start of validity in Unix seconds.
    package let notBefore: Int64
    /// The end of validity in Unix seconds.
    package let notAfter: Int64
    /// Subject alternative names that are host names.
    package let hostNames: [String]
    /// Subject alternative names that are IP addresses, as text.
    package let addresses: [String]
    package let extensions: [Extension]
    /// True when the extended key usage contains clientAuth or is absent.
    package let allowsClientAuthentication: Bool

    package init(der: [UInt8]) throws(CredentialError) {
        ERR_clear_error()
        let certificate = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_X509(nil, &cursor, buffer.count)
        }
        guard let certificate else { throw .taken() }
        defer { X509_free(certificate) }
        self.init(reading: certificate)
    }

    /// Returns the value of the extension with a dotted identifier.
    package func value(ofExtension identifier: String) -> [UInt8]? {
        extensions.first { $0.identifier == identifier }?.value
    }

    /// SHA-256 of the DER form, in lower-case hex.
    package var fingerprint: String { Hexadecimal.text(of: SHA256.hash(der)) }
}

extension Certificate {
    /// - Parameter certificate: an `X509` object, which is only read.
    init(reading certificate: OpaquePointer) {
        der = encoded { i2d_X509(certificate, $0) }
        let name = X509_get_subject_name(certificate)
        subject = Self.line(of: name)
        issuer = Self.line(of: X509_get_issuer_name(certificate))
        commonName = Self.entry(NID_commonName, of: name)
        userID = Self.entry(NID_userId, of: name)
        serialNumber = Hexadecimal.text(of: Self.octets(of: X509_get0_serialNumber(certificate)))
        notBefore = Self.seconds(X509_get0_notBefore(certificate))
        notAfter = Self.seconds(X509_get0_notAfter(certificate))
        (hostNames, addresses) = Self.alternativeNames(of: certificate)
        extensions = (0..<X509_get_ext_count(certificate)).map { Self.extension($0, of: certificate) }
        allowsClientAuthentication = X509_get_extended_key_usage(certificate) & UInt32(XKU_SSL_CLIENT) != 0
        ERR_clear_error()  // A malformed extension leaves an error, which the next call must not find.
    }

    private static func octets(of string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string, let data = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(string))))
    }

    private static func line(of name: OpaquePointer?) -> String {
        let bio = MemoryBIO()
        X509_NAME_print_ex(bio.pointer, name, 0, copenssl_xn_flag_rfc2253)
        return String(decoding: bio.drained(), as: UTF8.self)
    }

    private static func entry(_ identifier: Int32, of name: OpaquePointer?) -> String? {
        let index = X509_NAME_get_index_by_NID(name, identifier, -1)
        guard index >= 0, let entry = X509_NAME_get_entry(name, index) else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
        guard length >= 0, let text else { return nil }
        defer { CRYPTO_free(text, nil, 0) }
        return String(decoding: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self)
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        guard let epoch = ASN1_TIME_set(nil, 0) else { preconditionFailure("OpenSSL is out of memory") }
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var rest: Int32 = 0
        // An unreadable date counts as 1970. If the end of validity is unreadable, the certificate has therefore expired.
        guard ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else { return 0 }
        return Int64(days) * 86_400 + Int64(rest)
    }

    private static func alternativeNames(of certificate: OpaquePointer) -> ([String], [String]) {
        guard let found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else {
            return ([], [])
        }
        let names = OpaquePointer(found)
        defer { GENERAL_NAMES_free(names) }
        var hosts: [String] = []
        var addresses: [String] = []
        for index in 0..<OPENSSL_sk_num(names) {
            let name = OPENSSL_sk_value(names, index).assumingMemoryBound(to: GENERAL_NAME.self)
            var kind: Int32 = 0
            let value = GENERAL_NAME_get0_value(name, &kind)
            guard kind == GEN_DNS || kind == GEN_IPADD else { continue }
            let octets = octets(of: value?.assumingMemoryBound(to: ASN1_STRING.self))
            if kind == GEN_DNS {
                hosts.append(String(decoding: octets, as: UTF8.self))
            } else if let address = SystemCalls.text(ofAddress: octets) {
                addresses.append(address)
            }
        }
        return (hosts, addresses)
    }

    private static func `extension`(_ index: Int32, of certificate: OpaquePointer) -> Extension {
        let found = X509_get_ext(certificate, index)
        var name = [CChar](repeating: 0, count: 128)
        let length = OBJ_obj2txt(&name, Int32(name.count), X509_EXTENSION_get_object(found), 1)
        return Extension(
            identifier: String(
                decoding: name.prefix(max(0, min(Int(length), name.count - 1))).map { UInt8(bitPattern: $0) },
                as: UTF8.self),
            isCritical: X509_EXTENSION_get_critical(found) == 1,
            value: octets(of: X509_EXTENSION_get_data(found)))
    }
}
