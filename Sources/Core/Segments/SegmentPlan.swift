/// The bitmaps that must be read in one partition to find the devices of some segments.
package struct SegmentPlan: Sendable {
    /// The numbers of the bitmaps that are read for each chunk, in ascending order. The list is empty if no device of the
    /// partition can be in any of the segments.
    package let numbers: [Int]
    let expressions: [SegmentExpression]
    let alive: Int?
    /// All terms of the expressions, each once.
    let terms: [SegmentTerm]
    /// For each bitmap's number, the indexes of the terms that are true for all devices of the bitmap.
    let parts: [Int: [Int]]

    /// - Parameter today: the number of days since 1970-01-01 UTC.
    package init(_ expressions: [SegmentExpression], _ attributes: AttributeNumbers, today: Int) {
        self.expressions = expressions
        var (numbers, terms, parts): ([SegmentTerm: [Int]], [SegmentTerm], [Int: [Int]]) = ([:], [], [:])
        for term in expressions.flatMap(\.terms) where numbers[term] == nil {
            numbers[term] = attributes.numbers(of: term, today: today)
            terms.append(term)
        }
        let canMatch = expressions.contains { $0.canBeTrue { numbers[$0]?.isEmpty == false } }
        alive = canMatch ? attributes.alive : nil
        self.terms = terms
        if alive != nil {
            for (index, term) in terms.enumerated() {
                for number in numbers[term] ?? [] { parts[number, default: []].append(index) }
            }
        }
        self.parts = parts
        self.numbers = Set(parts.keys).union(alive.map { [$0] } ?? []).sorted()
    }
}

extension SegmentExpression {
    /// Whether the expression can be true for some device.
    /// - Parameter exists: whether some device has the term.
    fileprivate func canBeTrue(_ exists: (SegmentTerm) -> Bool) -> Bool {
        switch self {
        case .all, .not: true
        case .term(let term): exists(term)
        case .and(let parts): parts.allSatisfy { $0.canBeTrue(exists) }
        case .or(let parts): parts.contains { $0.canBeTrue(exists) }
        }
    }
}

/// Evaluates the expressions of a plan over one chunk of ordinals, from bitmaps that are added one after the other.
package struct ChunkEvaluation: Sendable {
    private let plan: SegmentPlan
    private var alive = OrdinalChunk()
    /// The chunk of each term, in the order of the plan's terms.
    private var chunks: [OrdinalChunk]

    package init(_ plan: SegmentPlan) {
        self.plan = plan
        chunks = Array(repeating: OrdinalChunk(), count: plan.terms.count)
    }

    /// Adds the chunk of a bitmap of the plan. The caller skips a bitmap that Redis does not have.
    /// - Returns: false, without a change, if `bytes` is not a chunk.
    package mutating func add(_ bytes: [UInt8], of number: Int) -> Bool {
        if number == plan.alive, !alive.formUnion(bytes: bytes) { return false }
        for index in plan.parts[number] ?? [] where !chunks[index].formUnion(bytes: bytes) { return false }
        return true
    }

    /// The devices of the chunk that are in the segment.
    /// - Parameter index: the index of the segment's expression in the plan.
    package func devices(of index: Int = 0) -> OrdinalChunk {
        plan.expressions[index].devices(among: alive) { term in
            plan.terms.firstIndex(of: term).map { chunks[$0] } ?? OrdinalChunk()
        }
    }
}
