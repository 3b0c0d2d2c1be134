package import PushModel

/// The suppressed tokens of one shard: 16 bytes per slot, at most three of four slots in use.
///
/// A token is identified by the XXH64 hash of its bytes, seeded with the scope. The table uses open addressing with linear
/// probing, and removal closes gaps. If a valid token has the same hash as a suppressed token, the valid token is suppressed
/// wrongly; the chance is one in 2⁶⁴ per pair.
package struct SuppressionTable: Sendable {
    /// The hashes of the tokens; 0 marks a free slot.
    private var keys: [UInt64] = []
    /// Per slot: the time of invalidity in seconds (32 bits), the time of the record in hours (24 bits), the
    /// reason (8 bits).
    private var values: [UInt64] = []
    package private(set) var count = 0
    /// How many seconds a record is valid.
    package var life: Int64

    package init(life: Int64) { self.life = life }

    package var isEmpty: Bool { count == 0 }
    /// The memory size of the table.
    package var byteCount: Int { 16 * keys.count }

    /// Applies the latest record about a token and restarts the record's lifetime. Some reasons end when the app registers the
    /// token again, and other reasons remain. A reason that would end does not replace a reason that remains.
    ///
    /// - Parameter recorded: the time of the record in Unix seconds.
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

    /// Whether the new record need not be written, because the table has an equivalent record in the first half of its lifetime.
    ///
    /// - Parameter now: the current time in Unix seconds.
    package func covers(_ record: SuppressionRecord, at now: Int64) -> Bool {
        guard count > 0, let reason = record.reason else { return false }
        let slot = slot(of: record.token.withUnsafeBytes { Self.key($0, record.scope) })
        guard keys[slot] != 0, let old = Self.reason(values[slot]),
            Self.recorded(values[slot]) + life / 2 > now
        else { return false }
        // A record that may come from the wrong environment can be revoked later, so a new record must be written.
        guard reason.mayReplace(old) else { return !old.mayBeEnvironment }
        return reason.yieldsToRegistration ? values[slot] >> 32 >= UInt64(record.time) : old == reason
    }

    /// Returns why a token is suppressed and since when it is invalid, in Unix seconds; nil for a token that is not suppressed.
    ///
    /// - Parameters:
    ///   - registeredAt: when the producer last saw the token registered, in Unix seconds.
    ///   - now: the current time in Unix seconds.
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

    /// The beginning of the hour in which the record was made, in Unix seconds.
    private static func recorded(_ value: UInt64) -> Int64 { Int64(value >> 8 & 0xFF_FFFF) * 3600 }

    private static func key(_ token: UnsafeRawBufferPointer, _ scope: UInt32) -> UInt64 {
        let hash = XXH64.hash(token, seed: UInt64(scope))
        return hash == 0 ? 1 : hash
    }

    /// Returns the slot of the key, or the free slot where the key belongs.
    private func slot(of key: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: key) & (keys.count - 1)
        while keys[slot] != 0, keys[slot] != key { slot = (slot + 1) & (keys.count - 1) }
        return slot
    }

    /// Moves all valid entries into a new table that uses at most three of eight slots.
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

    /// Empties the key's slot, and moves up entries that the key had displaced.
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
