import PushModel
import Segments
import Testing

struct SegmentPlanTests {
    private static let today = 100
    private static let numbers = AttributeNumbers([
        "alive": 7, "tag:a": 1, "tag:b": 2, "zone:Europe/Paris": 3, "zone:Europe/Rome": 4, "seen:100": 5,
        "seen:90": 6,
    ])

    private static let reads: [([String], [Int])] = [
        (["all"], [7]),
        (["tag:a"], [1, 7]),
        (["tag:a & !tag:a"], [1, 7]),
        (["tag:b | zone:Europe/*"], [2, 3, 4, 7]),
        (["seen<5d & tag:a"], [1, 5, 7]),
        (["!tag:x"], [7]),
        (["tag:a", "tag:b"], [1, 2, 7]),
        // The plan reads no bitmap if no device can be in the segment.
        (["tag:x"], []),
        (["tag:a & tag:x"], []),
        (["tag:x | zone:Asia/*"], []),
        (["tag:x | tag:a"], [1, 7]),
        (["tag:x", "tag:a"], [1, 7]),
    ]

    @Test(arguments: reads) func `a plan names each bitmap once`(texts: [String], wanted: [Int]) throws {
        let plan = SegmentPlan(
            try texts.map { try SegmentExpression(parsing: $0) }, Self.numbers, today: Self.today)
        #expect(plan.numbers == wanted)
    }

    @Test func `a partition without devices is not read`() throws {
        let plan = SegmentPlan([.all], AttributeNumbers(["tag:a": 1]), today: Self.today)
        #expect(plan.numbers.isEmpty)
        #expect(ChunkEvaluation(plan).devices().isEmpty)
    }

    @Test func `bytes that are no chunk change nothing`() {
        var evaluation = ChunkEvaluation(SegmentPlan([.all], Self.numbers, today: Self.today))
        let isOdd = evaluation.add([1], of: 7)
        #expect(!isOdd && evaluation.devices().isEmpty)
        let isSparse = evaluation.add([0, 3], of: 7)
        #expect(isSparse)
        #expect(evaluation.devices().ordinals == [3])
    }

    /// Some devices with attributes, and the bitmaps of their attributes.
    private struct Partition {
        var names: [String: Int] = ["alive": 0]
        /// For each ordinal, the names of its attributes.
        var devices: [UInt16: Set<String>] = [:]

        init(_ random: inout SeededRandom) {
            let count = [3, 300, 3000].randomElement(using: &random)!
            for _ in 0..<count {
                var names: Set<String> = []
                if random.happens(0.9) { names.insert("alive") }
                for tag in ["a", "ab", "b"] where random.happens(0.4) { names.insert("tag:\(tag)") }
                names.insert("seen:\(90 + Int.random(in: 0...10, using: &random))")
                devices[.random(in: 0...UInt16.max, using: &random)] = names
            }
            for name in Set(devices.values.joined()).sorted() where names[name] == nil {
                names[name] = names.count
            }
        }

        func bytes(of number: Int) -> [UInt8] {
            guard let name = names.first(where: { $0.value == number })?.key else { return [] }
            return OrdinalChunk(devices.filter { $0.value.contains(name) }.map(\.key)).bytes
        }
    }

    private static let terms: [SegmentTerm] = [
        .value(.tag, "a"), .value(.tag, "b"), .value(.tag, "unknown"), .prefix(.tag, "a"), .prefix(.tag, ""),
        .prefix(.zone, "Europe/"), .seenWithin(days: 3), .seenWithin(days: 3650),
    ]

    private static func expression(_ depth: Int, _ random: inout SeededRandom) -> SegmentExpression {
        func parts() -> [SegmentExpression] {
            (0..<Int.random(in: 2...3, using: &random)).map { _ in expression(depth - 1, &random) }
        }
        switch depth == 0 ? Int.random(in: 0...5, using: &random) : Int.random(in: 5...9, using: &random) {
        case 0...4: return .term(terms.randomElement(using: &random)!)
        case 5: return .all
        case 6: return .not(expression(depth - 1, &random))
        case 7, 8: return .and(parts())
        default: return .or(parts())
        }
    }

    /// Whether a device with these attribute names is in the segment, by the definition of the operators and terms.
    private static func contains(_ expression: SegmentExpression, _ names: Set<String>) -> Bool {
        switch expression {
        case .all: true
        case .not(let part): !contains(part, names)
        case .and(let parts): parts.allSatisfy { contains($0, names) }
        case .or(let parts): parts.contains { contains($0, names) }
        case .term(.value(let attribute, let value)): names.contains("\(attribute):\(value)")
        case .term(.prefix(let attribute, let start)):
            names.contains { $0.hasPrefix("\(attribute):\(start)") }
        case .term(.seenWithin(let days)):
            (today - days + 1...today).contains { names.contains("seen:\($0)") }
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `the devices of several segments are those for which their expressions are true`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        let partition = Partition(&random)
        let expressions = (0..<4).map { _ in Self.expression(3, &random) }
        let plan = SegmentPlan(expressions, AttributeNumbers(partition.names), today: Self.today)
        var evaluation = ChunkEvaluation(plan)
        for number in plan.numbers.shuffled(using: &random) {
            let isChunk = evaluation.add(partition.bytes(of: number), of: number)
            #expect(isChunk)
        }
        for (index, expression) in expressions.enumerated() {
            let wanted = partition.devices.filter {
                $0.value.contains("alive") && Self.contains(expression, $0.value)
            }
            #expect(evaluation.devices(of: index).ordinals == wanted.keys.sorted(), "\(expression)")
        }
    }
}
