import ArgumentParser

/// A number or a time on the command line. The initializer reads the text or throws the reason why it is invalid.
protocol OptionValue: Sendable {
    init(reading text: String) throws(OptionFault)
}

/// The reason why a text is not a valid value. In the error message, the reason follows the option's name and the
/// text.
struct OptionFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Initializers for options whose value is a number or a time. The next word on the command line is the value even if
/// the word begins with a minus sign. So the error for a negative value says why the value is invalid. Otherwise the
/// error would say that a value is missing.
extension Option where Value: OptionValue {
    init(wrappedValue: Value, reads help: ArgumentHelp) {
        // With a transform, the parser does not show the default, so the default is added to the help here.
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

extension Argument {
    init<T: OptionValue>(reads help: ArgumentHelp) where Value == [T] {
        self.init(help: help, transform: { try T(reading: $0) })
    }

    init<T: OptionValue>(wrappedValue: [T], reads help: ArgumentHelp) where Value == [T] {
        self.init(wrappedValue: wrappedValue, help: help, transform: { try T(reading: $0) })
    }
}

extension FixedWidthInteger {
    /// Reads a whole number that fits the type.
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
            throw OptionFault("use a whole number")
        }
    }
}

extension Int: OptionValue {}
extension UInt16: OptionValue {}
extension UInt32: OptionValue {}

/// Accepts every 64-bit value, because a seed is not used in arithmetic.
extension UInt64: OptionValue {
    init(reading text: String) throws(OptionFault) {
        try OptionFault.check(wholeNumber: text)
        guard let number = UInt64(unbounded: text) else {
            throw OptionFault(text.first == "-" ? "it is at least 0" : "it is too large")
        }
        self = number
    }
}
