/// One app of a configuration.
struct App {
    var name = "demo"
    var topic: String
    var gateway: String
    var caFile: String
    /// `key: …` or `certificate: …`.
    var credentials: String
    var more: [String] = []

    init(
        _ started: Gateway.Started, name: String = "demo", keyFile: String? = nil,
        credentials: String? = nil, more: [String] = []
    ) {
        self.name = name
        topic = started.bundle
        gateway = started.gateway
        caFile = started.caFile
        let file = keyFile ?? started.keyFile
        self.credentials =
            credentials ?? "key: { file: \(file), id: \(started.keyID), team: \(started.team) }"
        self.more = more
    }

    var text: String {
        (["  \(name):"]
            + (["topic: \(topic)", "gateway: \(gateway)", "ca_file: \(caFile)", credentials] + more).map {
                "    " + $0
            }).joined(separator: "\n")
    }
}
