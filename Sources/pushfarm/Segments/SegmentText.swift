import EventLoop
import PushModel
import Segments
import StoreProtocol

extension SegmentExpression {
    /// Reads an expression that the user entered.
    /// - Parameter name: the name of the saved segment that the text comes from.
    init(reading text: String, ofSaved name: String? = nil) throws(CommandFailure) {
        do throws(SegmentError) {
            try self.init(parsing: text)
        } catch {
            let place = name.map { "segment \(PlainText.of($0, limit: 64)): " } ?? ""
            throw .usage(place + error.reason + "\n" + SegmentExcerpt(text, at: error.position).text)
        }
    }
}

/// An expression with a mark under the place of a fault.
struct SegmentExcerpt {
    /// Two lines: the expression, and `^` under the place. Characters far from the place are left out.
    let text: String

    /// Characters that are shown on each side of the place.
    private static let (before, after) = (50, 24)

    /// - Parameter position: the offset of the place in bytes of UTF-8.
    init(_ expression: String, at position: Int) {
        let bytes = Array(expression.utf8)
        let place = min(max(position, 0), bytes.count)
        let start = PlainText.of(String(decoding: bytes[..<place], as: UTF8.self), limit: .max)
        let rest = PlainText.of(String(decoding: bytes[place...], as: UTF8.self), limit: .max)
        let head = start.count > Self.before ? "…" + start.suffix(Self.before - 1) : start
        let tail = rest.count > Self.after ? rest.prefix(Self.after - 1) + "…" : rest
        text = "  \(head)\(tail)\n  \(String(repeating: " ", count: head.count))^"
    }
}

/// The segment that a command line names: a saved segment, or an expression.
struct ChosenSegment: Sendable {
    /// The name of a saved segment; nil for an expression.
    let name: String?
    let text: String
    let expression: SegmentExpression

    /// Whether a text is meant as the name of a saved segment.
    static func isName(_ text: String) -> Bool { SavedSegment.isName(text) }

    /// - Parameter text: the name of a saved segment of the app, or an expression.
    @Loop static func find(
        _ text: String, _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> ChosenSegment {
        guard isName(text) else {
            return ChosenSegment(name: nil, text: text, expression: try SegmentExpression(reading: text))
        }
        let saved = try await client.call(ReadSegments(), app)
        guard let segment = saved.segments.first(where: { $0.name == text }) else {
            throw .noSegment(text, app, saved)
        }
        return ChosenSegment(
            name: text, text: segment.expression,
            expression: try SegmentExpression(reading: segment.expression, ofSaved: text))
    }
}

extension CommandFailure {
    /// The error for an unknown name of a segment.
    static func noSegment(_ name: String, _ app: String, _ saved: ReadSegments.Reply) -> CommandFailure {
        let shown = PlainText.of(name, limit: 64)
        guard !saved.unreadable.contains(name) else {
            return .failed("the saved segment \"\(shown)\" of \(app) cannot be read")
        }
        return .usage(
            "\(app) has no saved segment \"\(shown)\""
                + UnknownName.advice(name, among: saved.segments.map(\.name)))
    }
}
