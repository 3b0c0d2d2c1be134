/// The decoded device tokens of a job in order, without duplicates.
struct TokenList {
    private(set) var entries: [ParsedJob.Push] = []
    private(set) var malformed: [MalformedPush] = []
    private(set) var duplicates = 0
    /// The number of tokens so far: accepted, malformed and duplicates.
    private(set) var submitted = 0
    /// The bytes of the accepted tokens, followed by free space for the next token.
    private var storage: [UInt8] = []
    private var used = 0
    private var seen = TokenSet()

    /// Reads the array of tokens at the scanner's position. Returns false if the array has more than `limit` tokens.
    mutating func readArray(_ scanner: inout JSONScanner, limit: Int) throws(JSONError) -> Bool {
        reserveCapacity(textBytes: scanner.bytes.count - scanner.position, limit: limit)
        try scanner.enterArray()
        while try scanner.nextElement() {
            guard submitted < limit else { return false }
            try readToken(&scanner)
        }
        return true
    }

    /// Reserves memory for as many tokens of the usual length (64 digits) as fit into `textBytes` bytes of JSON.
    private mutating func reserveCapacity(textBytes: Int, limit: Int) {
        let count = min(textBytes / 67 + 1, limit)
        storage.reserveCapacity(32 * count + HexToken.room)
        entries.reserveCapacity(count)
        seen.reserveCapacity(count)
    }

    /// Reads the value at the scanner's position as the token of the next push.
    mutating func readToken(_ scanner: inout JSONScanner) throws(JSONError) {
        makeRoom()
        let (start, used) = (scanner.position, used)
        let plain = storage.withUnsafeMutableBytes {
            HexToken.decodePlain(
                scanner.bytes, from: start, into: UnsafeMutableRawBufferPointer(rebasing: $0[used...]))
        }
        if let plain {
            scanner.position = plain.end
            return add(count: plain.count)
        }
        guard try scanner.kind() == .string else {
            return try refuse(.tokenNotText, text: scanner.skipValue())
        }
        let string = try scanner.string()
        var text: [UInt8] = []
        scanner.append(string, to: &text)
        do throws(MalformedPush.Fault) {
            let token = try HexToken.decode(text)
            storage.replaceSubrange(used..<used + token.count, with: token)
            add(count: token.count)
        } catch { refuse(error, text: string.content) }
    }

    mutating func refuse(_ fault: MalformedPush.Fault, text: Range<Int>) {
        malformed.append(MalformedPush(index: submitted, fault: fault, text: text))
        submitted += 1
    }

    /// Counts a push whose token is not known yet.
    mutating func leaveOut() { submitted += 1 }

    mutating func takeBytes() -> [UInt8] {
        storage.removeSubrange(used...)
        defer { storage = [] }
        return storage
    }

    /// Adds the token whose `count` bytes were written into the free space after the used bytes.
    private mutating func add(count: Int) {
        let token = used..<used + count
        let isNew = storage.withUnsafeBytes { seen.insert(token, at: entries, in: $0) }
        if isNew {
            entries.append(
                ParsedJob.Push(
                    tokenOffset: UInt32(used), index: UInt32(submitted),
                    tokenLength: UInt8(truncatingIfNeeded: count)))
            used += count
        } else {
            duplicates += 1
        }
        submitted += 1
    }

    /// Keeps `HexToken.room` bytes free after the used bytes. The free bytes come from the reserved capacity; when this is used
    /// up, the storage doubles.
    @inline(__always)
    private mutating func makeRoom() {
        guard storage.count - used < HexToken.room else { return }
        let reserved = storage.capacity - storage.count
        let count = reserved >= HexToken.room ? min(reserved, 2048) : max(2 * HexToken.room, used)
        storage.append(contentsOf: repeatElement(0, count: count))
    }
}
