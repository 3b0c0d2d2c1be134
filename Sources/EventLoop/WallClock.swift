#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The clock on the wall: for deadlines that producers gave, never for time-outs.
package enum WallClock {
    /// Seconds since 1970.
    package static var seconds: Int64 { Int64(time(nil)) }
}
