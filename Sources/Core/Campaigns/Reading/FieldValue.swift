import PushModel

/// A value of a campaign's definition with its name, such as `window.from`.
struct FieldValue {
    let name: String
    let tree: JSONTree
    /// The bytes of the whole definition.
    let bytes: [UInt8]

    var position: Int { tree.range.lowerBound }

    func error(_ reason: String) -> CampaignError {
        CampaignError(field: name, position: position, reason: reason)
    }

    /// Creates the error for a value that the field does not allow.
    func error(mustBe what: String, advice: String? = nil) -> CampaignError {
        let found =
            switch tree.content {
            case .object, .array: tree.kind.rawValue
            case .null: "null; leave the field out for its default"
            default: Excerpt.of(String(decoding: bytes[tree.range], as: UTF8.self))
            }
        let hint = advice.map { " (\($0))" } ?? ""
        return error("\"\(name)\" must be \(what)\(hint); this is \(found)")
    }

    /// Returns the text of a string that passes a check.
    func text(mustBe what: String, _ isValid: (String) -> Bool = { _ in true }) throws(CampaignError)
        -> String
    {
        guard let text = tree.text, isValid(text) else { throw error(mustBe: what) }
        return text
    }

    /// Returns one of the words; the words are named in the error.
    func word(among words: [String]) throws(CampaignError) -> String {
        if let text = tree.text, words.contains(text) { return text }
        let quoted = words.map { "\"\($0)\"" }
        var what = quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
        if let text = tree.text, let nearest = NearestWord.find(text, among: words) {
            what += "; did you mean \"\(nearest)\"?"
            throw error("\"\(name)\" must be \(what)")
        }
        throw error(mustBe: what)
    }

    func integer(in range: ClosedRange<Int64>) throws(CampaignError) -> Int {
        guard let number = tree.integer, range.contains(number) else {
            throw error(mustBe: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(number)
    }

    func number(above least: Double, upTo greatest: Double, mustBe what: String) throws(CampaignError)
        -> Double
    {
        guard case .number(let number, _) = tree.content, number > least, number <= greatest else {
            throw error(mustBe: what)
        }
        return number
    }

    /// Returns the milliseconds of a duration such as `25m`.
    func duration(in range: ClosedRange<Int64>, mustBe what: String) throws(CampaignError) -> Int64 {
        guard let text = tree.text else { throw error(mustBe: what) }
        let time: Int64
        do throws(TimeText.Fault) { time = try TimeText.readDuration(text) } catch {
            throw self.error(mustBe: what, advice: error.advice)
        }
        guard range.contains(time) else { throw error(mustBe: what) }
        return time
    }

    /// Returns a share such as `10 %` as a fraction above 0 and at most 1.
    func share() throws(CampaignError) -> Double {
        let what = "a share above 0 % and up to 100 %, such as \"10 %\""
        guard let text = tree.text, text.utf8.count <= 20, text.hasSuffix("%") else {
            throw error(mustBe: what)
        }
        let number = text.dropLast().trimmingSpaces
        guard !number.isEmpty, number.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            let percent = Double(number), percent > 0, percent <= 100
        else { throw error(mustBe: what) }
        return percent / 100
    }

    /// Returns the elements of an array, each with its name, such as `stages[1]`.
    func elements(atMost count: Int, of what: String) throws(CampaignError) -> [FieldValue] {
        guard case .array(let elements) = tree.content else { throw error(mustBe: "an array of \(what)") }
        guard elements.count <= count else {
            throw error("\"\(name)\" may have at most \(count) elements; these are \(elements.count)")
        }
        return elements.enumerated().map { index, element in
            FieldValue(name: "\(name)[\(index)]", tree: element, bytes: bytes)
        }
    }
}

extension Substring {
    /// The text without spaces at its end.
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while text.last == " " { text = text.dropLast() }
        return text
    }
}
