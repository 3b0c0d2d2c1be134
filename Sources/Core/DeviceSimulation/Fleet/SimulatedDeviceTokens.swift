import PushModel

/// The tokens of all devices, and the number of each token's device.
struct SimulatedDeviceTokens {
    private static let free = UInt32.max

    /// The bytes of all tokens, in the order of the devices' numbers.
    private var bytes: [UInt8] = []
    /// For each device: the end of the device's token in ``bytes``.
    private var ends: [Int] = []
    /// A hash table with the devices' numbers, by the hash of the token. It uses linear probing, and at most half of its
    /// places.
    private var places = [UInt32](repeating: free, count: 1024)

    var count: Int { ends.count }

    /// Returns the device of a token; nil if the token is not known.
    func find(_ token: UnsafeRawBufferPointer, hash: UInt64) -> UInt32? {
        let device = places[place(of: token, hash)]
        return device == Self.free ? nil : device
    }

    /// Adds a token that is not known.
    mutating func add(_ token: UnsafeRawBufferPointer, hash: UInt64, seed: UInt64) -> UInt32 {
        if 2 * (ends.count + 1) > places.count { grow(seed) }
        let device = UInt32(clamping: ends.count)
        places[place(of: token, hash)] = device
        bytes.append(contentsOf: token)
        ends.append(bytes.count)
        return device
    }

    func withToken<Result>(of device: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range(of: device)])) }
    }

    private func range(of device: UInt32) -> Range<Int> {
        (device == 0 ? 0 : ends[Int(device) - 1])..<ends[Int(device)]
    }

    /// The place of the token, or the free place where the token belongs.
    private func place(of token: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while places[place] != Self.free, !isToken(of: places[place], token) { place = (place + 1) & mask }
        return place
    }

    private func isToken(of device: UInt32, _ token: UnsafeRawBufferPointer) -> Bool {
        let range = range(of: device)
        guard range.count == token.count else { return false }
        return bytes.withUnsafeBytes { $0[range].elementsEqual(token) }
    }

    private mutating func grow(_ seed: UInt64) {
        let mask = 2 * places.count - 1
        places = [UInt32](repeating: Self.free, count: mask + 1)
        for device in 0..<UInt32(clamping: ends.count) {
            let hash = withToken(of: device) { XXH64.hash($0, seed: seed) }
            var place = Int(truncatingIfNeeded: hash) & mask
            while places[place] != Self.free { place = (place + 1) & mask }
            places[place] = device
        }
    }
}
