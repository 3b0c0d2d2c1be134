/// The judge of a run: holds what producers, gateway, accounts and events say against each other.
///
/// It knows nothing of how the farm works. Whoever says that a push was delivered must have the gateway on his side;
/// whoever says that one failed must name a reason that the gateway gave.
package struct Checker {
    let evidence: Evidence
    let expectation: Expectation
    let book: PushBook
    var verdict = Verdict()
    /// Tokens that the gateway has called dead.
    let deadTokens: Set<String>

    package static func judge(_ evidence: Evidence, _ expectation: Expectation) -> Verdict {
        var checker = Checker(evidence, expectation)
        checker.checkLedgers()
        checker.checkPushes()
        checker.checkBooks()
        checker.checkEvents()
        checker.checkOrder()
        checker.checkDevices()
        checker.checkSenders()
        checker.checkProgress()
        return checker.verdict
    }

    private init(_ evidence: Evidence, _ expectation: Expectation) {
        self.evidence = evidence
        self.expectation = expectation
        var verdict = Verdict()
        book = PushBook(evidence, &verdict)
        deadTokens = Set(evidence.gateway.lazy.filter { $0.status == 410 }.map(\.token))
        self.verdict = verdict
    }

    /// Whether Redis may have forgotten what was written at that time.
    func mayBeForgotten(_ time: Int64) -> Bool {
        expectation.rollBacks.contains { $0.forgotten.contains(time) }
    }
}
