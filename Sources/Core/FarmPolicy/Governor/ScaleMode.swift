/// By how much the number of connections goes up and down at a time.
package enum ScaleMode: Hashable, Sendable {
    /// By so many.
    case incremental(Int)
    /// By this factor, more than 1.
    case exponential(Double)
    /// Not at all.
    case constant

    /// One step more than `count`, which is at least 1.
    package func up(from count: Int) -> Int {
        switch self {
        case .incremental(let step): count + step
        case .exponential(let factor): max(count + 1, Int(clamping: (Double(count) * factor).rounded(.up)))
        case .constant: count
        }
    }

    /// One step less than `count`; may be below 1.
    package func down(from count: Int) -> Int {
        switch self {
        case .incremental(let step): count - step
        case .exponential(let factor): min(count - 1, Int(clamping: (Double(count) / factor).rounded(.down)))
        case .constant: count
        }
    }
}
