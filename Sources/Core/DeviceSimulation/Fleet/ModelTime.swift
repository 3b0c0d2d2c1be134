/// A time of the device model, in tenths of a second since the model's start. The latest time is 13.6 years after the start.
package struct ModelTime: Hashable, Comparable, Sendable {
    package static let start = ModelTime(tenths: 0)
    /// The latest time. A push with this expiration never expires.
    package static let never = ModelTime(tenths: .max)

    package let tenths: UInt32

    package init(tenths: UInt32) { self.tenths = tenths }

    /// Converts milliseconds since the model's start, rounded down. A time outside the range becomes the nearest time in the
    /// range.
    package init(milliseconds: Int64) { tenths = UInt32(clamping: milliseconds / 100) }

    /// Milliseconds since the model's start.
    package var milliseconds: Int64 { Int64(tenths) * 100 }
    package var seconds: UInt32 { tenths / 10 }
    package var minute: Int { Int(tenths / 600) }

    package static func < (a: ModelTime, b: ModelTime) -> Bool { a.tenths < b.tenths }

    /// The time that is `tenths` tenths of a second later.
    func advanced(by tenths: UInt32) -> ModelTime {
        ModelTime(tenths: self.tenths.adding(saturating: tenths))
    }

    /// Tenths of a second since an earlier time; 0 if the other time is later.
    func tenths(since other: ModelTime) -> UInt32 { self > other ? tenths - other.tenths : 0 }
}

extension Duration {
    /// The duration in tenths of a second, rounded up; at least 0.
    var tenths: UInt32 { UInt32(clamping: clampedMilliseconds.adding(saturating: 99) / 100) }
}
