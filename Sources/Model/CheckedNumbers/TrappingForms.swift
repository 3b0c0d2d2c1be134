// Hides functions of the standard library that can end the process or that accept a number without a limit. In each file that
// imports this module, a declaration of this file hides the standard library's declaration with the same signature. The
// declarations of this file are deprecated, and the build treats the warning about their use as an error. `make lint` and
// `make test` check that files which convert numbers import this module.

extension FixedWidthInteger {
    @available(*, deprecated, message: "accepts any number: use init(foreign:), which is nil above 2^48")
    package init?<Text: StringProtocol>(_ text: Text, radix: Int = 10) {
        let number: Self? = WholeNumber.parse(text.utf8, radix: radix)
        guard let number else { return nil }
        self = number
    }

    @available(*, deprecated, message: "accepts any number: use init(foreign:), which is nil above 2^48")
    package init?(_ text: String) {
        let number: Self? = WholeNumber.parse(text.utf8, radix: 10)
        guard let number else { return nil }
        self = number
    }
}

extension Int {
    @available(*, deprecated, message: "crashes if the number does not fit: use Int(clamping:)")
    package init(_ number: Double) { self.init(clamping: number) }
}

extension Int64 {
    @available(*, deprecated, message: "crashes if the number does not fit: use Int64(clamping:)")
    package init(_ number: Double) { self.init(clamping: number) }
}

extension UInt64 {
    @available(*, deprecated, message: "crashes if the number does not fit: use UInt64(clamping:)")
    package init(_ number: Double) { self.init(clamping: number) }
}

extension UInt32 {
    @available(*, deprecated, message: "crashes if the number does not fit: use UInt32(clamping:)")
    package init(_ number: Double) { self.init(clamping: number) }
}

extension Duration {
    @available(*, deprecated, message: "crashes if the number does not fit: use Duration(clampingSeconds:)")
    package static func seconds(_ seconds: Double) -> Duration { Duration(clampingSeconds: seconds) }

    @available(*, deprecated, message: "crashes if the number does not fit: use Duration(clampingSeconds:)")
    package static func milliseconds(_ milliseconds: Double) -> Duration {
        Duration(clampingSeconds: milliseconds / 1000)
    }
}
