/// Why a text is not JSON, with the position of the fault.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        case empty
        case byteOrderMark
        case endsTooEarly
        case goesOn
        case tooDeep
        case number
        case escape
        case surrogate
        case controlCharacter
        case invalidUTF8
        case expected(Expectation)
    }

    package enum Expectation: String, Sendable {
        case value = "a value"
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case integer = "a whole number that fits 64 bits"
        case key = "a field name in double quotes"
        case keyOrEnd = "a field name in double quotes, or }"
        case colon = "a colon after the field name"
        case commaOrBrace = "a comma, or }"
        case commaOrBracket = "a comma, or ]"
        case literal = "true, false or null"
    }

    package let fault: Fault
    /// The offset of the wrong byte; the length of the input if the text ends too early.
    package let position: Int

    /// Describes the fault in words that continue a sentence such as "the job is not valid JSON: ".
    package var description: String {
        switch fault {
        case .empty: "there is nothing but white space"
        case .byteOrderMark: "it starts with a byte order mark; send UTF-8 without one"
        case .endsTooEarly: "it ends too early"
        case .goesOn: "something follows after its end"
        case .tooDeep: "more than \(JSONScanner.depthLimit) objects and arrays are nested"
        case .number: "this is not a valid JSON number"
        case .escape: "a backslash starts no escape that JSON knows"
        case .surrogate: "a \\u escape is half of a surrogate pair, without the other half"
        case .controlCharacter: "a string holds a control character that is not escaped"
        case .invalidUTF8: "a string is not valid UTF-8"
        case .expected(let what): "expected \(what.rawValue)"
        }
    }
}
