/// Why bytes are not a record.
package enum DeviceRecordError: Error, Equatable, Sendable {
    /// The record's version is not the version that this release knows.
    case version(UInt8)
    /// The bytes end too early, or bytes follow the record.
    case length
    /// A field has an invalid value.
    case value(Field)
    /// The dictionary has no name with this number. Names that were added since the dictionary was read may be missing.
    case unknownName(Int)

    /// A part of a record.
    package enum Field: String, Sendable {
        case number, flags, name, tags, text, service, environment, kind, address
    }
}

/// The bytes of a record.
///
/// Numbers are little-endian base 128 (LEB128): 7 bits a byte, with the highest bit set in all bytes but the last. Names are
/// numbers of the partition's dictionary. The fields, in order:
/// - version, one byte: 1
/// - `registered`
/// - `lastSeenDay`
/// - flags, a number: bit 6 for the user, the other bits for the values of ``DeviceRecord/Detail``
/// - for each detail with a set bit: its name
/// - number of tags, then for each tag the difference between its name and the name before it, in ascending order
/// - number of bytes of the id, then the id
/// - if bit 6 is set: number of bytes of the user id, then the user id
/// - number of addresses, then for each: one byte with kind (bits 4 to 7), service (bits 1 to 3) and environment (bit 0); `since`
///   as seconds after `registered`; number of bytes; the bytes
extension DeviceRecord {
    package static let version: UInt8 = 1
    private static let userFlag: Int64 = 1 << 6
    /// The number of flags.
    private static let flagBits: Int64 = 9

    /// The bytes of the record; nil if the dictionary lacks a name of the record.
    package func bytes(names: AttributeNames) -> [UInt8]? {
        names.numbers(of: attributes(SeenBitmaps()).prefix(named)).map(bytes)
    }

    /// The number of tags and details: the attributes whose numbers are in the record.
    private var named: Int { tags.count + Detail.allCases.count { self[$0] != nil } }

    /// The bytes of the record.
    ///
    /// - Parameter numbers: the numbers of the device's attributes, in their order: at least those of tags and details.
    func bytes(numbers: [Int]) -> [UInt8] {
        var bytes = [Self.version]
        bytes.reserveCapacity(160)
        bytes.appendNumber(registered)
        bytes.appendNumber(Int64(lastSeenDay))
        let present = Detail.allCases.filter { self[$0] != nil }
        let flags = present.reduce(user == nil ? 0 : Self.userFlag) { $0 | 1 << $1.rawValue }
        bytes.appendNumber(flags)
        for number in numbers[tags.count..<tags.count + present.count] { bytes.appendNumber(Int64(number)) }
        bytes.appendNumber(Int64(tags.count))
        var last = 0
        for number in numbers[..<tags.count].sorted() {
            bytes.appendNumber(Int64(number - last))
            last = number
        }
        bytes.appendCounted(id.utf8)
        if let user { bytes.appendCounted(user.utf8) }
        bytes.appendNumber(Int64(addresses.count))
        for address in addresses {
            bytes.append(address.address.head)
            bytes.appendNumber(address.since - registered)
            bytes.appendCounted(address.address.bytes)
        }
        return bytes
    }

    /// Reads a record.
    ///
    /// - Parameter names: the dictionary of the record's partition.
    package init(bytes: some Collection<UInt8>, names: AttributeNames) throws(DeviceRecordError) {
        var reader = RecordReader(Array(bytes))
        let version = try reader.byte()
        guard version == Self.version else { throw .version(version) }
        let registered = try reader.number()
        let lastSeenDay = try reader.number()
        let flags = try Self.flags(&reader)
        var details: [Detail: String] = [:]
        for detail in Detail.allCases where flags >> Int64(detail.rawValue) & 1 == 1 {
            details[detail] = try reader.name(names, prefix: detail.name("").text)
        }
        let tags = try Self.tags(&reader, names)
        let (id, user, addresses) = try Self.identity(&reader, flags: flags, registered: registered)
        self.init(
            id: id, user: user, addresses: addresses, tags: tags, details: details, registered: registered,
            lastSeenDay: Int(foreign: lastSeenDay))
    }

    /// Reads the flags of a record.
    static func flags(_ reader: inout RecordReader) throws(DeviceRecordError) -> Int64 {
        let flags = try reader.number()
        guard flags >> flagBits == 0 else { throw .value(.flags) }
        return flags
    }

    /// Reads the end of a record: id, user and addresses.
    static func identity(
        _ reader: inout RecordReader, flags: Int64, registered: Int64
    ) throws(DeviceRecordError) -> (id: String, user: String?, addresses: [Address]) {
        let id = try reader.text(DeviceLimits.idBytes)
        let user = flags & Self.userFlag == 0 ? nil : try reader.text(DeviceLimits.userBytes)
        var addresses: [Address] = []
        for _ in 0..<(try reader.count(upTo: DeviceLimits.addresses)) {
            addresses.append(try address(&reader, registered: registered))
        }
        guard reader.isAtEnd else { throw .length }
        return (id, user, addresses)
    }

    private static func tags(
        _ reader: inout RecordReader, _ names: AttributeNames
    ) throws(DeviceRecordError) -> [String] {
        var tags: [String] = []
        var last: Int64 = 0
        for _ in 0..<(try reader.count(upTo: DeviceLimits.tags)) {
            let difference = try reader.number()
            guard difference > 0, difference <= AttributeNames.largestNumber else { throw .value(.tags) }
            last += difference
            tags.append(try RecordReader.name(last, names, prefix: "tag:"))
        }
        return tags
    }

    private static func address(
        _ reader: inout RecordReader, registered: Int64
    ) throws(DeviceRecordError) -> Address {
        let head = try reader.byte()
        let later = try reader.number()
        let bytes = try reader.counted(DeviceLimits.addressBytes, .address)
        let address = try DeviceAddress(head: head, bytes: bytes)
        return Address(address, since: registered + later)
    }
}

extension DeviceAddress {
    /// Kind, service and environment in one byte.
    fileprivate var head: UInt8 { kind.rawValue << 4 | service.rawValue << 1 | environment.rawValue }

    fileprivate init(head: UInt8, bytes: [UInt8]) throws(DeviceRecordError) {
        guard let service = Service(rawValue: head >> 1 & 7) else { throw .value(.service) }
        guard let environment = Environment(rawValue: head & 1) else { throw .value(.environment) }
        guard let kind = Kind(rawValue: head >> 4) else { throw .value(.kind) }
        self.init(service: service, environment: environment, kind: kind, bytes: bytes)
    }
}

extension [UInt8] {
    /// Appends a number in base 128. Negative numbers become 0.
    fileprivate mutating func appendNumber(_ number: Int64) {
        var rest = UInt64(clamping: number)
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    fileprivate mutating func appendCounted(_ bytes: some Collection<UInt8>) {
        appendNumber(Int64(bytes.count))
        append(contentsOf: bytes)
    }
}
