import PushModel
import Segments
import Testing

struct SegmentExpressionTests {
    private static let tags = ["a", "b", "c", "d"].map { SegmentTerm.value(.tag, $0) }

    /// A random expression of at most `depth` levels.
    private static func expression(_ depth: Int, _ random: inout SeededRandom) -> SegmentExpression {
        let kind = depth == 0 ? Int.random(in: 0...1, using: &random) : Int.random(in: 0...4, using: &random)
        func parts() -> [SegmentExpression] {
            (0..<Int.random(in: 2...3, using: &random)).map { _ in expression(depth - 1, &random) }
        }
        switch kind {
        case 0: return .term(tags[Int.random(in: tags.indices, using: &random)])
        case 1: return .term(tags[0])
        case 2: return .not(expression(depth - 1, &random))
        case 3: return .and(parts())
        default: return .or(parts())
        }
    }

    /// Whether the expression is true for one device, by the definition of the operators.
    private static func isTrue(_ expression: SegmentExpression, _ has: (SegmentTerm) -> Bool) -> Bool {
        switch expression {
        case .all: true
        case .term(let term): has(term)
        case .not(let part): !isTrue(part, has)
        case .and(let parts): parts.allSatisfy { isTrue($0, has) }
        case .or(let parts): parts.contains { isTrue($0, has) }
        }
    }

    @Test(arguments: UInt64(0)..<50) func `a chunk's devices are those for which the expression is true`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        let ordinals = (0..<300).map { _ in UInt16.random(in: 0...UInt16.max, using: &random) }
        func some() -> Set<UInt16> { Set(ordinals.filter { _ in Bool.random(using: &random) }) }
        let alive = some()
        let members = Dictionary(uniqueKeysWithValues: Self.tags.map { ($0, some()) })
        let expression = Self.expression(4, &random)
        let found = expression.devices(among: OrdinalChunk(alive)) { OrdinalChunk(members[$0] ?? []) }
        let wanted = alive.filter { ordinal in
            Self.isTrue(expression) { members[$0]?.contains(ordinal) ?? false }
        }
        #expect(found.ordinals == wanted.sorted(), "\(expression)")
        let read = try? SegmentExpression(parsing: expression.description)
        #expect(
            read?.devices(among: OrdinalChunk(alive)) { OrdinalChunk(members[$0] ?? []) } == found,
            "\(expression)")
    }

    @Test func `the terms of an expression are listed once`() throws {
        let text = "tag:b & (tag:a | !tag:b) & seen<7d"
        #expect(
            try SegmentExpression(parsing: text).terms == [
                .value(.tag, "b"), .value(.tag, "a"), .seenWithin(days: 7),
            ])
    }
}
