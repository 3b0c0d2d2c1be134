/// Why bytes are not the rules of a time zone.
package struct TimeZoneError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        /// The file does not begin with `TZif` and a known version.
        case notTZif
        /// The file has more bytes than ``TZifFile/longest``.
        case tooLong
        case endsTooEarly
        case trailingBytes
        /// The file counts leap seconds, but the farm's clock does not.
        case leapSeconds
        /// A count of the header contradicts another count.
        case count
        /// The times of changes do not ascend.
        case order
        /// A change refers to an offset that the file does not list.
        case type
        /// An offset from UTC is not between -26 and +26 hours.
        case offset
        /// A flag is neither 0 nor 1.
        case flag
        /// A name is not terminated.
        case name
        /// The rule for future years is not a TZ string of POSIX.
        case rule
    }

    package let fault: Fault
    /// The offset of the fault in bytes from the start of the file.
    package let position: Int

    package var description: String {
        let text =
            switch fault {
            case .notTZif: "the file is not a TZif file of version 1 or later"
            case .tooLong: "the file is longer than \(TZifFile.longest) bytes"
            case .endsTooEarly: "the file ends too early"
            case .trailingBytes: "bytes follow after the end of the rules"
            case .leapSeconds: "the file counts leap seconds; use the zone of the same name without right/"
            case .count: "two counts in the header contradict each other"
            case .order: "the times of changes do not ascend"
            case .type: "a change refers to an offset that the file does not list"
            case .offset: "an offset from UTC is beyond 26 hours"
            case .flag: "a flag is neither 0 nor 1"
            case .name: "the name of an offset is not terminated"
            case .rule: "the rule for future years is not a TZ string of POSIX"
            }
        return "\(text), at byte \(position)"
    }
}
