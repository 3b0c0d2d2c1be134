import StoreProtocol

extension FullReason {
    /// For a person.
    var text: String {
        switch self {
        case .memory: "the memory of Redis is nearly full; producers must wait"
        case .backlog: "max_backlog pushes are open; producers must wait"
        case .inbox: "its inbox has reached max_inbox or max_inbox_bytes; producers must wait"
        case .operator: "an operator has closed admission; producers must wait"
        }
    }

    /// Why a job was not taken.
    /// - Parameter reason: as Redis or this program gave it.
    static func words(_ reason: String, _ app: String) -> String {
        FullReason(rawValue: reason) == .operator
            ? "an operator has closed \(app) to producers" : "the farm is full (\(reason))"
    }
}
