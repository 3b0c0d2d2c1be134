import Segments
import StoreProtocol

/// A bitmap of a partition: the bits of one attribute for one chunk of ordinals.
struct BitsKey: Hashable, Comparable {
    /// The number of the attribute's name.
    let name: Int
    let chunk: Int

    var key: RegistryKey { .bits(name: name, chunk: chunk) }

    static func < (one: Self, other: Self) -> Bool { (one.name, one.chunk) < (other.name, other.chunk) }

    /// Hashes one number instead of two, because plans look up many bitmaps.
    func hash(into hasher: inout Hasher) { hasher.combine(name << 8 ^ chunk) }
}

/// The changes of one bitmap in the steps of a plan.
///
/// New ordinals are higher than all ordinals of a sparse chunk, so a change appends them to the chunk. All other
/// changes of a sparse chunk read its content and write the whole chunk again. A chunk that gets too many bits becomes
/// dense, and stays dense.
struct PlannedBits {
    struct Change {
        let ordinal: UInt16
        let isSet: Bool
        /// Whether the ordinal is higher than all ordinals that were ever used before the plan.
        let isNew: Bool
    }

    /// The changes of the step `leave`.
    private var left: [Change] = []
    /// The changes of the step `register`.
    private var registered: [Change] = []
    private var length = 0
    /// The content, if it was read or written.
    private var content: OrdinalChunk?

    /// Whether the bitmap in Redis is damaged. A damaged bitmap does not change, so that a check of the registry finds it.
    private(set) var isSkipped = false

    private static let denseLength = OrdinalChunk.size / 8

    mutating func add(_ change: Change, in step: PlanStep) {
        switch step {
        case .leave: left.append(change)
        case .register: registered.append(change)
        case .point: preconditionFailure("the step point changes no bitmap")
        }
    }

    private func changes(of step: PlanStep) -> [Change] {
        switch step {
        case .leave: left
        case .register: registered
        case .point: []
        }
    }

    mutating func setLength(_ length: Int) {
        self.length = length
        isSkipped =
            length != Self.denseLength && (!length.isMultiple(of: 2) || length / 2 > OrdinalChunk.sparseLimit)
    }

    mutating func setContent(_ bytes: [UInt8]) {
        content = OrdinalChunk(bytes: bytes)
        if content == nil { isSkipped = true }
    }

    /// Whether the content must be read before the changes can be written.
    var needsContent: Bool {
        guard length > 0, length != Self.denseLength, !isSkipped else { return false }
        func mustRead(_ changes: [Change]) -> Bool { changes.contains { !$0.isSet || !$0.isNew } }
        return mustRead(left) || mustRead(registered)
            || length / 2 + left.count + registered.count > OrdinalChunk.sparseLimit
    }

    /// The commands that carry out the changes of a step; empty if there are none. Call this method once for each step,
    /// in the order of the steps.
    mutating func write(_ step: PlanStep, _ key: RegistryKey) -> [PartitionChange] {
        let changes = changes(of: step)
        guard !changes.isEmpty, !isSkipped else { return [] }
        let key = key.suffix
        if length == Self.denseLength { return writeDense(changes, key) }
        if content == nil, length == 0 { content = OrdinalChunk() }
        if var chunk = content {
            for change in changes { chunk[change.ordinal] = change.isSet }
            content = chunk
            let bytes = chunk.bytes
            length = bytes.count
            return [
                bytes.isEmpty ? PartitionChange(.delete, key, []) : PartitionChange(.setString, key, [bytes])
            ]
        }
        let bytes = changes.map(\.ordinal).sorted().flatMap {
            [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)]
        }
        defer { length += bytes.count }
        return [PartitionChange(.setRange, key, [Array("\(length)".utf8), bytes])]
    }

    private func writeDense(_ changes: [Change], _ key: String) -> [PartitionChange] {
        var words: [[UInt8]] = []
        for change in changes where !change.isNew {
            words += [
                Self.set, Self.bit, Array("\(change.ordinal)".utf8), change.isSet ? Self.one : Self.zero,
            ]
        }
        let new = changes.filter(\.isNew).map(\.ordinal).sorted()
        for window in Self.windows(new) {
            let width = UInt64(window.last - window.first) + 1
            words += [
                Self.set, Array("u\(width)".utf8), Array("\(window.first)".utf8),
                Array("\(window.bits)".utf8),
            ]
        }
        return PartitionChange.split(.setBits, key, words, by: 4)
    }

    /// Divides new ordinals into ranges of at most 32. Ordinals between new ordinals have no bits yet, so one number
    /// can overwrite all bits of a range.
    ///
    /// - Parameter ordinals: in ascending order.
    private static func windows(_ ordinals: [UInt16]) -> [(first: UInt16, last: UInt16, bits: UInt64)] {
        var windows: [(first: UInt16, last: UInt16, bits: UInt64)] = []
        for ordinal in ordinals {
            if let window = windows.last, ordinal - window.first < 32 {
                let shift = UInt64(ordinal - window.last)
                windows[windows.count - 1] = (window.first, ordinal, window.bits << shift | 1)
            } else {
                windows.append((ordinal, ordinal, 1))
            }
        }
        return windows
    }

    private static let set = Array("SET".utf8)
    private static let bit = Array("u1".utf8)
    private static let one = Array("1".utf8)
    private static let zero = Array("0".utf8)
}

extension PartitionChange {
    /// Changes with at most ``mostWords`` words each. Each group of `size` words stays in one change.
    static func split(
        _ command: Command, _ key: String, _ words: [[UInt8]], by size: Int = 1
    ) -> [PartitionChange] {
        let most = mostWords / size * size
        return stride(from: 0, to: words.count, by: most).map { start in
            PartitionChange(command, key, Array(words[start..<min(start + most, words.count)]))
        }
    }
}
