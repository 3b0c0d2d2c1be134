import Segments

extension FuzzTarget {
    /// An expression of a segment, as operators and programs may write it.
    static let segment = FuzzTarget(
        "segment",
        words: [
            "tag:", "platform:", "service:", "environment:", "zone:Europe/*", "lang:de", "app:2.4", "os:",
            "model:", "seen<30d", "seen", "<", "3650d", "all", " & ", " | ", "!", "(", ")", "\"", "\\\"",
            "\\",
            "*", ":", "\u{e9}", "\u{301}", "\t",
        ],
        longestInput: SegmentExpression.longest + 64
    ) { bytes throws(Violation) in
        let text = String(decoding: bytes, as: UTF8.self)
        let expression: SegmentExpression
        do throws(SegmentError) { expression = try SegmentExpression(parsing: text) } catch {
            try Violation.unless(
                (0...text.utf8.count).contains(error.position), "the place is outside: \(error)")
            try Violation.unless(!error.reason.isEmpty && error.reason.utf8.count < 300, "\(error)")
            return
        }
        try checkText(of: expression)
        try checkEvaluation(of: expression)
    }

    /// Checks that an expression's own text is read as the same expression, if the text is not too long.
    private static func checkText(of expression: SegmentExpression) throws(Violation) {
        let text = expression.description
        guard text.utf8.count <= SegmentExpression.longest else { return }
        let again: SegmentExpression
        do throws(SegmentError) { again = try SegmentExpression(parsing: text) } catch {
            throw Violation("its own text is refused: \(text): \(error)")
        }
        try Violation.unless(again == expression, "\(text) is read as \(again)")
    }

    /// Checks that each device that gets pushes is either in a segment or in the segment's negation, and that no other device is
    /// in one of them.
    private static func checkEvaluation(of expression: SegmentExpression) throws(Violation) {
        let terms = expression.terms
        try Violation.unless(terms.count <= SegmentExpression.mostTerms, "\(terms.count) terms")
        var names = ["alive": 1]
        for (index, term) in terms.enumerated() {
            if case .value(let attribute, let value) = term { names["\(attribute):\(value)"] = index + 2 }
        }
        let plan = SegmentPlan([expression, .not(expression), .all], AttributeNumbers(names), today: 0)
        try Violation.unless(plan.numbers.count <= terms.count + 1, "it reads \(plan.numbers.count) bitmaps")
        var evaluation = ChunkEvaluation(plan)
        for number in plan.numbers {
            let ordinals = (UInt16(0)..<40).filter { Int($0) % (number + 1) != 0 }
            guard evaluation.add(OrdinalChunk(ordinals).bytes, of: number) else {
                throw Violation("a bitmap is refused")
            }
        }
        var inside = evaluation.devices(of: 0)
        let (outside, all) = (evaluation.devices(of: 1), evaluation.devices(of: 2))
        try Violation.unless(
            inside.count + outside.count == all.count, "\(expression) and its negation overlap")
        inside.formUnion(outside)
        try Violation.unless(inside == all, "\(expression) has devices that get no pushes")
    }
}
