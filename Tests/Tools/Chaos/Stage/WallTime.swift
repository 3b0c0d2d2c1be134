import Foundation

/// Milliseconds since 1970, as all ledgers have them.
enum WallTime {
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
