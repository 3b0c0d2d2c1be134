import StoreProtocol

extension FullReason {
    /// For a person.
    var text: String {
        switch self {
        case .memory: "Redis's memory is nearly used up; producers are told to wait"
        case .backlog: "max_backlog pushes are open; producers are told to wait"
        case .inbox: "its inbox has reached max_inbox or max_inbox_bytes; producers are told to wait"
        case .operator: "an operator has closed it; producers are told to wait"
        }
    }

    /// Why a job was not taken.
    /// - Parameter reason: as Redis or this program gave it.
    static func words(_ reason: String, _ app: String) -> String {
        FullReason(rawValue: reason) == .operator
            ? "an operator has closed \(app) to producers" : "the farm is full (\(reason))"
    }
}
