/// The header list of one push after another, written into one buffer that never moves and is never allocated again.
///
/// What a connection fixes (authority, authorization), what a segment fixes (its options) and what a push fixes
/// (path, id) are written when they change. Pointers handed out stay valid until the list is destroyed or the same
/// header is written again.
package struct RequestHeaders: ~Copyable {
    /// The longest values, in bytes.
    package static let longestToken = 100
    package static let longestAuthorization = 4096
    package static let longestText = 255

    private static let pathPrefix: StaticString = "/3/device/"
    private static let authorizationPrefix: StaticString = "bearer "
    private static let idLength = 36

    private let buffer: UnsafeMutableRawPointer
    /// Where each header's value starts, and its length; -1: the header is absent.
    private var starts: [Int] = []
    private var lengths: [Int] = []
    /// The headers that are present, in order.
    private var present: [RequestHeader] = []

    /// - Parameter authority: the gateway's host, with its port unless that is 443.
    package init(authority: String) {
        var size = 0
        for header in RequestHeader.allCases {
            starts.append(size)
            lengths.append(-1)
            size += header == .authority ? authority.utf8.count : Self.room(for: header)
        }
        present.reserveCapacity(starts.count)
        buffer = .allocate(byteCount: size, alignment: 16)
        set(.method, "POST")
        set(.scheme, "https")
        var authority = authority
        authority.withUTF8 { set(.authority, UnsafeRawBufferPointer($0)) }
        Self.pathPrefix.copy(to: address(.path))
        Self.authorizationPrefix.copy(to: address(.authorization))
    }

    deinit { buffer.deallocate() }

    /// How many headers the list has now.
    package var count: Int { present.count }

    /// The header at `position` of the list, and its value.
    package subscript(position: Int) -> (header: RequestHeader, value: UnsafeRawBufferPointer) {
        let header = present[position]
        return (header, UnsafeRawBufferPointer(start: address(header), count: lengths[Int(header.rawValue)]))
    }

    /// Sets `authorization` to a provider token, or leaves the header out (certificate).
    package mutating func setProviderToken(_ token: UnsafeRawBufferPointer?) {
        guard let token else { return setLength(-1, of: .authorization) }
        let prefix = Self.authorizationPrefix.utf8CodeUnitCount
        precondition(
            prefix + token.count <= Self.longestAuthorization, "a provider token of \(token.count) bytes")
        UnsafeMutableRawBufferPointer(start: address(.authorization) + prefix, count: token.count).copyMemory(
            from: token)
        setLength(prefix + token.count, of: .authorization)
    }

    /// Sets what all pushes of a segment share; nil leaves a header out.
    ///
    /// - Parameter expiration: seconds since 1970; 0: one attempt, never stored.
    package mutating func setOptions(
        topic: UnsafeRawBufferPointer?, pushType: UnsafeRawBufferPointer, priority: UInt8, expiration: Int64?,
        collapseID: UnsafeRawBufferPointer?
    ) {
        set(.topic, topic)
        set(.pushType, pushType)
        setLength(Decimal.write(Int64(priority), to: address(.priority)), of: .priority)
        if let expiration {
            setLength(Decimal.write(expiration, to: address(.expiration)), of: .expiration)
        } else {
            setLength(-1, of: .expiration)
        }
        set(.collapseID, collapseID)
    }

    /// Sets `:path` to the device of `token` (raw bytes, at most ``longestToken``).
    package mutating func setToken(_ token: UnsafeRawBufferPointer) {
        precondition(token.count <= Self.longestToken, "a device token of \(token.count) bytes")
        let prefix = Self.pathPrefix.utf8CodeUnitCount
        setLength(prefix + Hexadecimal.write(token, to: address(.path) + prefix), of: .path)
    }

    /// Sets `apns-id`: `write` fills the 36 characters of a lower-case UUID.
    package mutating func setID(_ write: (UnsafeMutableRawBufferPointer) -> Void) {
        write(UnsafeMutableRawBufferPointer(start: address(.id), count: Self.idLength))
        setLength(Self.idLength, of: .id)
    }

    private static func room(for header: RequestHeader) -> Int {
        switch header {
        case .method, .scheme: 8
        case .authority, .topic, .pushType, .collapseID: longestText
        case .path: pathPrefix.utf8CodeUnitCount + 2 * longestToken
        case .authorization: longestAuthorization
        case .priority, .expiration: Decimal.longest
        case .id: idLength
        }
    }

    private func address(_ header: RequestHeader) -> UnsafeMutableRawPointer {
        buffer + starts[Int(header.rawValue)]
    }

    private mutating func set(_ header: RequestHeader, _ value: StaticString) {
        value.copy(to: address(header))
        setLength(value.utf8CodeUnitCount, of: header)
    }

    private mutating func set(_ header: RequestHeader, _ value: UnsafeRawBufferPointer?) {
        guard let value else { return setLength(-1, of: header) }
        precondition(
            header == .authority || value.count <= Self.longestText, "\(header) of \(value.count) bytes")
        UnsafeMutableRawBufferPointer(start: address(header), count: value.count).copyMemory(from: value)
        setLength(value.count, of: header)
    }

    private mutating func setLength(_ length: Int, of header: RequestHeader) {
        let before = lengths[Int(header.rawValue)]
        lengths[Int(header.rawValue)] = length
        guard (before < 0) != (length < 0) else { return }
        present.removeAll(keepingCapacity: true)
        for header in RequestHeader.allCases where lengths[Int(header.rawValue)] >= 0 {
            present.append(header)
        }
    }
}

extension StaticString {
    fileprivate func copy(to destination: UnsafeMutableRawPointer) {
        destination.copyMemory(from: utf8Start, byteCount: utf8CodeUnitCount)
    }
}
