import Testing

@testable import PushModel

struct NearestWordTests {
    static let words = ["payload", "tokens", "push_type", "ttl", "expires_at", "id"]

    @Test(arguments: [
        ("paylod", "payload"), ("payloda", "payload"), ("PAYLOAD", "payload"), ("token", "tokens"),
        ("pushType", "push_type"),
        ("push-type", "push_type"), ("tll", "ttl"), ("expiresAt", "expires_at"), ("ID", "id"),
        ("payload", "payload"), ("type", "push_type"), ("Expires", "expires_at"), ("at", "expires_at"),
    ])
    func `finds the intended word`(word: String, meant: String) {
        #expect(NearestWord.find(word, among: Self.words) == meant)
    }

    @Test(arguments: [
        "", "message", "xyz", "tokenizer", "push_typology", String(repeating: "payload", count: 10),
    ])
    func `makes no unlikely suggestion`(word: String) {
        #expect(NearestWord.find(word, among: Self.words) == nil)
    }
}
