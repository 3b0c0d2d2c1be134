import Foundation

/// Milliseconds since 1970, the time unit of all ledgers.
enum WallTime {
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
