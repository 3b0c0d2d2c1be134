import PushModel

/// The parts of a payload that decide what a device does.
package struct DevicePayload: Hashable, Sendable {
    /// The greatest number of editions that are read from one payload.
    package static let mostEditions = 16

    /// Whether `aps` has `content-available` with the value 1.
    package private(set) var isContentAvailable = false
    /// Whether `aps` has `mutable-content` with the value 1.
    package private(set) var isMutable = false
    /// The editions in the order of their download.
    package private(set) var editions: [String] = []

    private init() {}

    /// Reads a payload. If the payload is not a JSON object, all properties are false or empty.
    /// - Parameter editionKey: the member beside `aps` that names an edition, or an array of editions.
    package init(_ payload: UnsafeRawBufferPointer, editionKey: String) {
        var read = DevicePayload()
        do throws(JSONError) {
            try read.read(payload, editionKey: editionKey)
            self = read
        } catch {
            self.init()
        }
    }

    private mutating func read(_ payload: UnsafeRawBufferPointer, editionKey: String) throws(JSONError) {
        var scanner = JSONScanner(payload)
        try scanner.start()
        try scanner.enterObject()
        while let name = try scanner.nextKey() {
            if scanner.matches(name, "aps"), try scanner.kind() == .object {
                try readAPS(&scanner)
            } else if scanner.text(name) == editionKey {
                try readEditions(&scanner)
            } else {
                _ = try scanner.skipValue()
            }
        }
        try scanner.end()
    }

    private mutating func readAPS(_ scanner: inout JSONScanner) throws(JSONError) {
        try scanner.enterObject()
        while let name = try scanner.nextKey() {
            let value = try scanner.skipValue()
            let isOne = scanner.integer(in: value) == 1
            if scanner.matches(name, "content-available") { isContentAvailable = isOne }
            if scanner.matches(name, "mutable-content") { isMutable = isOne }
        }
    }

    /// Reads a text or an array of texts. Other values are skipped.
    private mutating func readEditions(_ scanner: inout JSONScanner) throws(JSONError) {
        guard try scanner.kind() == .array else { return try readEdition(&scanner) }
        try scanner.enterArray()
        while try scanner.nextElement() { try readEdition(&scanner) }
    }

    private mutating func readEdition(_ scanner: inout JSONScanner) throws(JSONError) {
        guard try scanner.kind() == .string else {
            _ = try scanner.skipValue()
            return
        }
        let name = try scanner.string()
        if editions.count < Self.mostEditions { editions.append(scanner.text(name)) }
    }
}
