import ArgumentParser
import EventLoop
import PushModel
import Registry
import StoreProtocol

struct DevicesSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Registers a device, or changes its tags.",
        discussion: """
            With --token, the command replaces all fields of the device. Without --token,
            the options --add-tag and --remove-tag change only the tags. The farm applies
            the change within about a second.

            Example:
              pushfarm devices set d-1 --app demo --token $TOKEN --user u-7 --tag sport
              pushfarm devices set d-1 --app demo --add-tag news --remove-tag sport
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Argument(help: "The device's id.")
    var id: String

    @Option(help: ArgumentHelp("The device token, as hex.", valueName: "hex"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "The environment: production or sandbox. Default: the environment of the app's gateway.",
            valueName: "name"))
    var environment: String?

    @Option(help: ArgumentHelp("The id of the device's user.", valueName: "id"))
    var user: String?

    @Option(
        name: .customLong("tag"), parsing: .singleValue,
        help: ArgumentHelp("A tag; may be repeated.", valueName: "tag"))
    var tags: [String] = []

    @Option(
        name: .customLong("add-tag"), parsing: .singleValue,
        help: ArgumentHelp("Adds a tag; may be repeated.", valueName: "tag"))
    var addedTags: [String] = []

    @Option(
        name: .customLong("remove-tag"), parsing: .singleValue,
        help: ArgumentHelp("Removes a tag; may be repeated.", valueName: "tag"))
    var removedTags: [String] = []

    @Option(help: ArgumentHelp("The time zone, such as Europe/Berlin.", valueName: "zone"))
    var zone: String?

    @Option(help: ArgumentHelp("The language, such as de or pt-BR.", valueName: "tag"))
    var lang: String?

    @Option(
        help: ArgumentHelp(
            "The platform: ios, ipados, macos, tvos, watchos, visionos, android or web.", valueName: "name"))
    var platform: String?

    @Option(help: ArgumentHelp("The version of the app.", valueName: "version"))
    var appVersion: String?

    @Option(help: ArgumentHelp("The version of the operating system.", valueName: "version"))
    var osVersion: String?

    @Option(help: ArgumentHelp("The device model, such as iPhone15,2.", valueName: "model"))
    var model: String?

    @Option(
        help: ArgumentHelp(
            "Why background pushes may not reach the device: refresh_off or force_quit.", valueName: "reason")
    )
    var reachability: String?

    @Option(help: ArgumentHelp("The network of the device: wifi or cellular.", valueName: "kind"))
    var network: String?

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run() throws {
        let input = JSONText.object { json in
            json.member("id", id)
            let texts = [
                ("token", token), ("environment", environment), ("user", user), ("zone", zone),
                ("lang", lang), ("platform", platform), ("app", appVersion), ("os", osVersion),
                ("model", model), ("reachability", reachability), ("network", network),
            ]
            for (name, text) in texts { if let text { json.member(name, text) } }
            for (name, tags) in [("tags", tags), ("add_tags", addedTags), ("remove_tags", removedTags)]
            where !tags.isEmpty {
                json.key(name)
                json.array { json in for tag in tags { json.value(tag) } }
            }
        }
        try choice.push([input], isDryRun: dryRun, common)
    }
}

struct DevicesRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes devices.",
        discussion: """
            Example:
              pushfarm devices remove d-1 d-2 --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Argument(help: "Ids of devices.")
    var ids: [String]

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run() throws {
        let inputs = ids.map { id in
            JSONText.object { json in
                json.member("id", id)
                json.member("remove", true)
            }
        }
        try choice.push(inputs, isDryRun: dryRun, common)
    }
}

struct DevicesForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Removes all devices of a user.",
        discussion: """
            Example:
              pushfarm devices forget --user u-7 --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
    var user: String

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run() throws {
        let input = JSONText.object { json in json.member("forget_user", user) }
        try choice.push([input], isDryRun: dryRun, common)
    }
}

extension DeviceAppOptions {
    /// Validates device inputs and pushes them to the app's list of device inputs.
    ///
    /// - Parameter inputs: JSON texts.
    fileprivate func push(_ inputs: [String], isDryRun: Bool, _ common: CommonOptions) throws {
        for input in inputs {
            do throws(DeviceInputError) { _ = try DeviceInputParser.parse(Array(input.utf8)) } catch {
                throw CommandFailure.usage("\(error.field): \(error.reason)")
            }
        }
        let name = app
        let app = try common.withClient { client in
            let app = try await client.chosenApp(name)
            try await client.mustHave(app: app)
            if !isDryRun {
                _ = try await client.call(PushInputs(.devices, inputs.map { Array($0.utf8) }), app)
            }
            return app
        }
        let noun = inputs.count == 1 ? "device input" : "device inputs"
        Console(json: common.json).show(
            .object([
                "app": .string(app), "inputs": .array(inputs.map { .verbatim($0) }),
                "dry_run": .bool(isDryRun),
            ]),
            "\(Figures.grouped(inputs.count)) \(noun) \(isDryRun ? "would be " : "")pushed to \(app)"
                + (isDryRun ? ": " + inputs.joined(separator: " ") : "") + "\n")
    }
}
