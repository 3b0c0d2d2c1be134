/// An app in the configuration of a test farm.
package struct App {
    package var name = "demo"
    package var topic: String
    package var gateway: String
    package var caFile: String
    /// The configuration line with the credentials: `key: …` or `certificate: …`.
    package var credentials: String
    package var more: [String] = []

    package init(
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

    /// Returns an app that uses a certificate and the simulator's binary interface.
    package static func binary(_ started: Gateway.Started, more: [String] = []) -> App {
        var app = App(
            started, credentials: "certificate: { file: \(started.pushCertificateFile) }", more: more)
        app.gateway = started.binary ?? ""
        return app
    }

    package var text: String {
        (["  \(name):"]
            + (["topic: \(topic)", "gateway: \(gateway)", "ca_file: \(caFile)", credentials] + more).map {
                "    " + $0
            }).joined(separator: "\n")
    }
}
