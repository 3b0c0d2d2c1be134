import RedisProtocol

@testable import RedisClient
@testable import StoreProtocol

/// Describes requests and replies in words, which helps to find the cause of a failure.
extension Simulation {
    func traced<Step: Request>(_ request: Step) -> String {
        guard trace != nil else { return "" }
        var command = RESPCommand()
        for word in request.words { word.write(to: &command, keys) }
        var bytes: [UInt8] = []
        command.write(into: &bytes)
        return "\(Step.self) \(traced(.bulk(bytes), most: 400))"
    }

    func traced(_ value: RESPValue, most: Int = 60) -> String {
        guard trace != nil else { return "" }
        if let integer = value.integer { return "\(integer)" }
        if let error = value.error { return "\(error)" }
        if let parts = value.array { return "[" + parts.map { traced($0) }.joined(separator: ", ") + "]" }
        guard let bytes = value.bytes else { return "nil" }
        let text = bytes.prefix(most).map { $0 < 32 || $0 > 126 ? "?" : String(UnicodeScalar($0)) }.joined()
        return text + (bytes.count > most ? "…" : "")
    }
}
