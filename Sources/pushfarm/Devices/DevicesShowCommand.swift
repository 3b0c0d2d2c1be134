import ArgumentParser
import EventLoop
import PushModel
import RedisClient
import Registry
import StoreProtocol

struct DevicesShowCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a device, or the devices of a user.",
        discussion: """
            Shows everything that is stored about a device: tokens, tags, attributes and
            times.

            Example:
              pushfarm devices show d-1 --app demo
              pushfarm devices show --user u-7 --app demo --json
              pushfarm devices show --token $TOKEN --app demo

            The exit status is 1 when no device is found.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Argument(help: "The device's id.")
    var id: String?

    @Option(help: ArgumentHelp("The id of a user.", valueName: "id"))
    var user: String?

    @Option(
        help: ArgumentHelp("A device token, as hex.", valueName: "hex"),
        transform: { try DeviceToken.bytes(of: $0) })
    var token: [UInt8]?

    func validate() throws {
        guard [id != nil, user != nil, token != nil].count(where: \.self) == 1 else {
            throw ValidationError("Give exactly one of these: a device's id, --user, --token.")
        }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        let reader = try await client.registry(of: app)
        let page = try await client.read { () throws(StoreError) in try await find(in: reader) }
        let records = page.devices.map(\.record)
        console.show(
            .object([
                "app": .string(app), "devices": .array(records.map { $0.json(tokens: .whole) }),
            ]),
            records.isEmpty
                ? "\(app) has no such device\n"
                : records.map { $0.text(console.style) }.joined(separator: "\n"))
        guard page.unreadable.isEmpty else {
            throw CommandFailure.failed(
                Figures.counted(page.unreadable.count, "record", "records") + " cannot be read")
        }
        if records.isEmpty { throw CommandFailure.failed() }
    }

    @Loop private func find(in reader: RegistryReader) async throws(StoreError) -> DevicePage {
        if let id { return try await reader.device(id: id) }
        if let user { return try await reader.devices(ofUser: user) }
        var page = DevicePage()
        for environment in DeviceAddress.Environment.allCases {
            let address = DeviceAddress(environment: environment, bytes: token ?? [])
            let found = try await reader.device(with: address)
            page.devices += found.devices.filter { !page.devices.contains($0) }
            page.unreadable += found.unreadable
        }
        return page
    }
}
