import ArgumentParser

/// A number or a time of the command line: what its text means, or what is wrong with it.
protocol OptionValue: Sendable {
    init(reading text: String) throws(OptionFault)
}

/// Why a text is no value for an option; follows the option's name and the text.
struct OptionFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Every number and time is read so. The word behind such an option is its value even if it begins with a minus sign: then the
/// reason is said, and not that the value is missing.
extension Option where Value: OptionValue {
    init(wrappedValue: Value, reads help: ArgumentHelp) {
        // The parser shows the default of a value that it reads itself only.
        var help = help
        help.abstract += " (default: \(wrappedValue))"
        self.init(
            wrappedValue: wrappedValue, parsing: .unconditional, help: help,
            transform: { try Value(reading: $0) })
    }

    init(reads help: ArgumentHelp) {
        self.init(parsing: .unconditional, help: help, transform: { try Value(reading: $0) })
    }
}

extension Option {
    init<T: OptionValue>(reads help: ArgumentHelp) where Value == T? {
        self.init(parsing: .unconditional, help: help, transform: { try T(reading: $0) })
    }

    init<T: OptionValue>(wrappedValue: [T], name: NameSpecification, reads help: ArgumentHelp)
    where Value == [T] {
        self.init(
            wrappedValue: wrappedValue, name: name, parsing: .unconditionalSingleValue, help: help,
            transform: { try T(reading: $0) })
    }
}

extension Argument where Value: OptionValue {
    init(reads help: ArgumentHelp) { self.init(help: help, transform: { try Value(reading: $0) }) }
}

extension FixedWidthInteger {
    /// A whole number that the type can hold.
    init(reading text: String) throws(OptionFault) {
        try OptionFault.check(wholeNumber: text)
        guard let number = Self(foreign: text) else {
            guard text.first == "-" else { throw OptionFault("it is too large") }
            throw OptionFault(Self.isSigned ? "it is too small" : "it is at least 0")
        }
        self = number
    }
}

extension OptionFault {
    fileprivate static func check(wholeNumber text: String) throws(OptionFault) {
        let digits = text.first == "-" || text.first == "+" ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw OptionFault("a whole number is wanted")
        }
    }
}

extension Int: OptionValue {}
extension UInt16: OptionValue {}
extension UInt32: OptionValue {}

/// Any of them: a seed is not counted with.
extension UInt64: OptionValue {
    init(reading text: String) throws(OptionFault) {
        try OptionFault.check(wholeNumber: text)
        guard let number = UInt64(unbounded: text) else {
            throw OptionFault(text.first == "-" ? "it is at least 0" : "it is too large")
        }
        self = number
    }
}
