#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The clock on the wall: for times that producers gave, never for time-outs.
enum UnixTime {
    /// Since 1970.
    static var seconds: Int64 { Int64(time(nil)) }
}
