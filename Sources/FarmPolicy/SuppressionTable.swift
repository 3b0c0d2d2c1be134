package import PushModel

/// The tokens of one shard that are left out: 16 bytes a slot, at most three of four slots in use.
///
/// Knows tokens by the XXH64 of their bytes, seeded with the scope: open addressing with linear steps, and what is removed
/// closes its gap. A hash that two tokens share would leave one out for nothing: one chance in 2⁶⁴ for each pair.
package struct SuppressionTable: Sendable {
    /// 0: the slot is free.
    private var keys: [UInt64] = []
    /// Since when it is dead in seconds (32 bits), when that was recorded in hours (24 bits), the reason (8 bits).
    private var values: [UInt64] = []
    package private(set) var count = 0
    /// Seconds that a record counts.
    package var life: Int64

    package init(life: Int64) { self.life = life }

    package var isEmpty: Bool { count == 0 }
    /// What it takes in memory.
    package var byteCount: Int { 16 * keys.count }

    /// Follows a record, which is the latest about its token.
    ///
    /// - Parameter recorded: Unix seconds.
    package mutating func apply(_ record: SuppressionRecord, recorded: Int64) {
        let key = record.token.withUnsafeBytes { Self.key($0, record.scope) }
        guard let reason = record.reason else { return remove(key) }
        if 4 * (count + 1) > 3 * keys.count { grow(at: recorded) }
        let slot = slot(of: key)
        if keys[slot] == 0 { count += 1 }
        keys[slot] = key
        let hours = UInt64(clamping: recorded / 3600) & 0xFF_FFFF
        values[slot] = UInt64(record.time) << 32 | hours << 8 | UInt64(reason.rawValue)
    }

    /// Why a token is left out, and since when it is dead, in Unix seconds; nil if it is not left out.
    ///
    /// - Parameters:
    ///   - registeredAt: Unix seconds when the producer last saw it registered.
    ///   - now: Unix seconds.
    package func entry(
        _ token: UnsafeRawBufferPointer, scope: UInt32, registeredAt: Int64?, now: Int64
    ) -> (reason: SuppressionReason, since: Int64)? {
        guard count > 0 else { return nil }
        let slot = slot(of: Self.key(token, scope))
        guard keys[slot] != 0 else { return nil }
        let value = values[slot]
        guard let reason = SuppressionReason(rawValue: UInt8(truncatingIfNeeded: value)),
            !isOver(value, at: now)
        else { return nil }
        let since = Int64(value >> 32)
        if reason.yieldsToRegistration, let registeredAt, registeredAt > since { return nil }
        return (reason, since)
    }

    private func isOver(_ value: UInt64, at now: Int64) -> Bool {
        (Int64(value >> 8 & 0xFF_FFFF) + 1) * 3600 + life <= now
    }

    private static func key(_ token: UnsafeRawBufferPointer, _ scope: UInt32) -> UInt64 {
        let hash = XXH64.hash(token, seed: UInt64(scope))
        return hash == 0 ? 1 : hash
    }

    /// Where the key is, or where it would be.
    private func slot(of key: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: key) & (keys.count - 1)
        while keys[slot] != 0, keys[slot] != key { slot = (slot + 1) & (keys.count - 1) }
        return slot
    }

    /// Moves all to twice as many slots, but for what is too old.
    private mutating func grow(at now: Int64) {
        let (oldKeys, oldValues) = (keys, values)
        let kept = oldKeys.indices.count { oldKeys[$0] != 0 && !isOver(oldValues[$0], at: now) }
        var size = 16
        while 8 * kept > 3 * size { size *= 2 }
        (keys, values) = ([UInt64](repeating: 0, count: size), [UInt64](repeating: 0, count: size))
        count = kept
        for (key, value) in zip(oldKeys, oldValues) where key != 0 && !isOver(value, at: now) {
            let slot = slot(of: key)
            (keys[slot], values[slot]) = (key, value)
        }
    }

    /// Empties the key's slot; those behind it that it kept from their place move up.
    private mutating func remove(_ key: UInt64) {
        guard count > 0 else { return }
        var gap = slot(of: key)
        guard keys[gap] != 0 else { return }
        let mask = keys.count - 1
        count -= 1
        var next = (gap + 1) & mask
        while keys[next] != 0 {
            let home = Int(truncatingIfNeeded: keys[next]) & mask
            if (next - home) & mask >= (next - gap) & mask {
                (keys[gap], values[gap]) = (keys[next], values[next])
                gap = next
            }
            next = (next + 1) & mask
        }
        keys[gap] = 0
    }
}
