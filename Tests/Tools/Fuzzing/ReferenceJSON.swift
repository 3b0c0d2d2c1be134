import Foundation

/// A JSON value as Foundation parses it, for comparison with the product's parser.
struct ReferenceJSON: Equatable {
    private let value: NSObject

    private init(value: Any) { self.value = value as? NSObject ?? NSNull() }

    /// Nil if Foundation refuses the text.
    init?(_ bytes: [UInt8]) {
        guard let value = try? JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])
        else {
            return nil
        }
        self.init(value: value)
    }

    /// Parses a text that the product accepted. Throws if Foundation refuses the text without a known reason.
    ///
    /// Nil if Foundation refuses the text and the text has a very long number: Foundation refuses numbers outside the range of
    /// Double.
    init?(accepted bytes: [UInt8]) throws(Violation) {
        guard let text = ReferenceJSON(bytes) else {
            if Self.hasHugeNumber(bytes) { return nil }
            throw Violation("accepted, though Foundation refuses it")
        }
        self = text
    }

    subscript(key: String) -> ReferenceJSON? {
        ((value as Any) as? [String: Any])?[key].map(ReferenceJSON.init(value:))
    }

    var elements: [ReferenceJSON]? { ((value as Any) as? [Any])?.map(ReferenceJSON.init(value:)) }
    var string: String? { (value as Any) as? String }
    var integer: Int? { ((value as Any) as? NSNumber)?.intValue }

    private static func hasHugeNumber(_ bytes: [UInt8]) -> Bool {
        bytes.split { !"+-.eE0123456789".utf8.contains($0) }.contains { word in
            let exponent = word.lastIndex { $0 | 0x20 == UInt8(ascii: "e") }.map { word[($0 + 1)...] }
            return word.count > 15 || exponent.map { $0.count > 2 } ?? false
        }
    }
}
