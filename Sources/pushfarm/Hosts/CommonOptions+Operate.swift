import ControlChannel
import EventLoop
import PushModel

extension CommonOptions {
    /// Tells coordinators something, waits for their answers, and shows them.
    /// - Parameter host: nil: all that live.
    func operate(
        _ verb: OperatorVerb, _ arguments: [String] = [], on host: String? = nil, _ options: OperatorOptions,
        patience: Duration = .seconds(60), oneByOne: Bool = false
    ) throws {
        let configuration = try load()
        let console = Console(json: json)
        try Loop.run { @Loop in
            var operators = OperatorClient(configuration: configuration, options: options, console: console)
            operators.patience = patience
            try await operators.carryOut(verb, arguments, on: host, oneByOne: oneByOne)
        }
    }
}
