/// A segment: a Boolean expression over attributes of devices, such as
/// `tag:sport & (lang:de | lang:at) & !tag:muted & seen<30d`.
///
/// `!` binds more tightly than `&`, and `&` more tightly than `|`. ``init(parsing:)`` reads an expression from its text.
package indirect enum SegmentExpression: Hashable, Sendable {
    /// Every device.
    case all
    case term(SegmentTerm)
    case not(SegmentExpression)
    case and([SegmentExpression])
    case or([SegmentExpression])

    /// The devices that background pushes may not reach: those that report a reason.
    package static let unreachable = SegmentExpression.term(.prefix(.reachability, ""))

    /// The terms of the expression, each once, in the order of the text.
    package var terms: [SegmentTerm] {
        var found: [SegmentTerm] = []
        collect(&found)
        return found
    }

    /// The devices of one chunk for which the expression is true.
    ///
    /// - Parameters:
    ///   - alive: the devices of the chunk that can get pushes. The result contains no devices outside of this set.
    ///   - chunk: the devices of the chunk that have a term. The closure is called at most once for each occurrence of
    ///     a term.
    package func devices(
        among alive: OrdinalChunk, _ chunk: (SegmentTerm) throws -> OrdinalChunk
    ) rethrows -> OrdinalChunk {
        var result = alive
        switch self {
        case .all: break
        case .term(let term): result.formIntersection(try chunk(term))
        case .not(let part): result.subtract(try part.devices(among: alive, chunk))
        case .and(let parts):
            for part in parts { result = try part.devices(among: result, chunk) }
        case .or(let parts):
            var union = OrdinalChunk()
            for part in parts { union.formUnion(try part.devices(among: alive, chunk)) }
            result = union
        }
        return result
    }

    private func collect(_ found: inout [SegmentTerm]) {
        switch self {
        case .all: break
        case .term(let term): if !found.contains(term) { found.append(term) }
        case .not(let part): part.collect(&found)
        case .and(let parts), .or(let parts): for part in parts { part.collect(&found) }
        }
    }
}

extension SegmentExpression: CustomStringConvertible {
    /// The text of the expression, with as few parentheses as possible. Parsing this text gives the same expression.
    package var description: String {
        switch self {
        case .all: "all"
        case .term(let term): "\(term)"
        case .not(let part): "!" + part.text(inside: .not)
        case .and(let parts): parts.map { $0.text(inside: .and) }.joined(separator: " & ")
        case .or(let parts): parts.map { $0.text(inside: .or) }.joined(separator: " | ")
        }
    }

    private enum Operator: Int {
        case or, and, not
    }

    private func text(inside outer: Operator) -> String {
        let own: Operator? =
            switch self {
            case .or: .or
            case .and: .and
            case .all, .term, .not: nil
            }
        guard let own, own.rawValue <= outer.rawValue else { return description }
        return "(\(description))"
    }
}
