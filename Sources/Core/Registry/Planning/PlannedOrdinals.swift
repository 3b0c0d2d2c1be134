/// The ordinals of one partition that a plan gives to new devices: first free ordinals, then ordinals that were never
/// used.
struct PlannedOrdinals {
    /// The lowest ordinal that was never used, before the plan.
    let first: Int
    /// The lowest ordinal that was never used, after the plan.
    private(set) var next: Int
    /// Free ordinals that the plan may use. The last element is used first.
    private var reusable: [Int] = []
    /// Free ordinals that the plan used.
    private(set) var reused: Set<Int> = []

    init(next: Int) { (first, self.next) = (next, next) }

    /// - Parameter members: members of the sorted set `free`. Members that are not ordinals below `next` are ignored.
    mutating func setReusable(_ members: [String]) {
        reusable = members.compactMap { Int(foreign: $0) }.filter { (0..<first).contains($0) }.reversed()
    }

    /// The ordinal of a new device; nil if all ordinals are in use.
    mutating func take() -> Int? {
        if let ordinal = reusable.popLast() {
            reused.insert(ordinal)
            return ordinal
        }
        guard next <= DevicePlace.largestOrdinal else { return nil }
        defer { next += 1 }
        return next
    }

    /// Whether the ordinal is higher than all ordinals that were ever used before the plan.
    func isNew(_ ordinal: Int) -> Bool { ordinal >= first }
}
