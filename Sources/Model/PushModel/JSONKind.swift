/// What a JSON value is.
package enum JSONKind: String, Sendable {
    case object = "an object"
    case array = "an array"
    case string = "a string"
    case number = "a number"
    case boolean = "a boolean"
    case null = "null"
}

/// A JSON string as it stands in the text.
package struct JSONString: Hashable, Sendable {
    /// Where it stands, without its quotes.
    package let content: Range<Int>
    /// It holds backslash escapes, so that `content` is not yet its text.
    package let hasEscapes: Bool
}
