import PushModel
import Testing

struct JobCappingTests {
    private static let tokens = (1...3).map { Hexadecimal.text(of: [UInt8](repeating: UInt8($0), count: 32)) }

    private static func capped(_ text: String, _ pushes: Set<Int>) throws -> String {
        String(decoding: try #require(JobText.parse(text).capping(pushes)), as: UTF8.self)
    }

    @Test func `pushes are left out, and nothing else changes`() throws {
        let (one, two, three) = (Self.tokens[0], Self.tokens[1], Self.tokens[2])
        let text =
            #" { "id" : "j" , "to\u006bens" : [ "\#(one)", "xx" ,"\#(two)", "\#(three)" ] , "payload":{"tokens":[1]}}"#
        #expect(
            try Self.capped(text, [1])
                == #" {"capped":1, "id" : "j" , "to\u006bens" : ["\#(one)","xx","\#(three)"] , "payload":{"tokens":[1]}}"#
        )
        #expect(
            try Self.capped(#"{"payload":{},"tokens":["\#(one)"]}"#, [0])
                == #"{"capped":1,"payload":{},"tokens":[]}"#)
        let pushes =
            #"{"pushes":[{"token":"\#(one)","payload":{}}, {"payload":{},"token":"\#(two)"}],"lane":"bulk"}"#
        #expect(
            try Self.capped(pushes, [0])
                == #"{"capped":1,"pushes":[{"payload":{},"token":"\#(two)"}],"lane":"bulk"}"#)
    }

    @Test func `the job without pushes is valid, and says that the budget was applied`() throws {
        let text = #"{"id":"j","tokens":["\#(Self.tokens[0])"],"payload":{},"push_type":"background"}"#
        #expect(try JobText.parse(text).capped == nil)
        let none = try JobText.parse(Self.capped(text, []))
        #expect(none.capped == 0 && none.accepted == 1)
        let all = try JobText.parse(Self.capped(text, [0]))
        #expect(all.capped == 1 && all.accepted == 0 && all.submitted == 0 && all.id == "j")
    }

    @Test(arguments: [
        (#"{"users":["a"],"payload":{},"capped":1}"#, "capped"),
        (#"{"tokens":[],"payload":{},"capped":-1}"#, "capped"),
        (#"{"tokens":[],"payload":{},"capped":0}"#, "tokens"),
    ]) func `only the farm sets the field`(text: String, field: String) {
        let error = #expect(throws: JobError.self) { try JobText.parse(text) }
        #expect(error?.field == field)
    }
}
