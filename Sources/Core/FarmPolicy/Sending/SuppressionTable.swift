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

    /// Follows a record, which is the latest about its token: its days begin again. A reason that yields to a registration leaves
    /// one that does not in its place.
    ///
    /// - Parameter recorded: Unix seconds.
    package mutating func apply(_ record: SuppressionRecord, recorded: Int64) {
        let key = record.token.withUnsafeBytes { Self.key($0, record.scope) }
        guard let reason = record.reason else { return remove(key) }
        if 4 * (count + 1) > 3 * keys.count { grow(at: recorded) }
        let slot = slot(of: key)
        let hours = (UInt64(clamping: recorded / 3600) & 0xFF_FFFF) << 8
        if keys[slot] == 0 {
            count += 1
        } else if let old = Self.reason(values[slot]), !reason.mayReplace(old),
            !isOver(values[slot], at: recorded)
        {
            values[slot] = values[slot] & ~(0xFF_FFFF << 8) | hours
            return
        }
        keys[slot] = key
        values[slot] = UInt64(record.time) << 32 | hours | UInt64(reason.rawValue)
    }

    /// A record would say nothing that is not known, and was not said in the first half of its life: it need not be written.
    ///
    /// - Parameter now: Unix seconds.
    package func covers(_ record: SuppressionRecord, at now: Int64) -> Bool {
        guard count > 0, let reason = record.reason else { return false }
        let slot = slot(of: record.token.withUnsafeBytes { Self.key($0, record.scope) })
        guard keys[slot] != 0, let old = Self.reason(values[slot]),
            Self.recorded(values[slot]) + life / 2 > now
        else { return false }
        // The guard may take back what stands there.
        guard reason.mayReplace(old) else { return !old.mayBeEnvironment }
        return reason.yieldsToRegistration ? values[slot] >> 32 >= UInt64(record.time) : old == reason
    }

    /// Why a token is suppressed, and since when it is invalid, in Unix seconds; nil if it is not suppressed.
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
        guard let reason = Self.reason(value), !isOver(value, at: now)
        else { return nil }
        let since = Int64(value >> 32)
        if reason.yieldsToRegistration, let registeredAt, registeredAt > since { return nil }
        return (reason, since)
    }

    private func isOver(_ value: UInt64, at now: Int64) -> Bool {
        Self.recorded(value) + 3600 + life <= now
    }

    private static func reason(_ value: UInt64) -> SuppressionReason? {
        SuppressionReason(rawValue: UInt8(truncatingIfNeeded: value))
    }

    /// Unix seconds when the hour of its record began.
    private static func recorded(_ value: UInt64) -> Int64 { Int64(value >> 8 & 0xFF_FFFF) * 3600 }

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
