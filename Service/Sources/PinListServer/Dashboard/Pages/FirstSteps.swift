// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The content of a page while there is nothing to show: three steps, each with a command to copy.
struct FirstSteps: Hashable, Sendable {
    /// One step.
    struct Step: Hashable, Sendable {
        /// The effect of the step, in words.
        let words: String
        /// The command.
        let command: String
    }

    /// The steps, in their order.
    let steps: [Step]

    private init(_ steps: (words: String, command: String)...) {
        self.steps = steps.map { Step(words: $0.words, command: $0.command) }
    }

    /// To the first list.
    static let list = FirstSteps(
        ("Make a project for the list.", "tumbler init app --name com.example.app"),
        (
            "On this machine, make the file of a token that publishes it, and take it to the project.",
            "(umask 077 && tumbler token create --scope publish --name com.example.app >publish.token)"
        ),
        (
            "In the project, publish the root and the list.",
            "tumbler publish root/1.json pins.json --server https://SERVICE --token-file publish.token"
        ))

    /// To the first host of a list.
    static let host = FirstSteps(
        ("Look at what the host presents, and take the entry.", "tumbler pin https://api.example.com --yaml"),
        ("Write the entry under domains: of the source, and check it.", "tumbler lint"),
        ("Sign and publish the next list.", "tumbler release")
    )

    /// The command that sends a report as an app does.
    static let testReport =
        #"curl --fail --data '{"hostname": "api.example.com", "validation-result": 1}' https://SERVICE/v1/reports"#

    /// The command that makes an entry of the audit log, and little else.
    static let testEntry = "tumbler token create --scope read --label test"

    /// To the first failure report.
    static let report = FirstSteps(
        (
            "In the project, write reportTo: [https://SERVICE/v1/reports] into tumbler.yaml, and check it.",
            "tumbler lint"
        ),
        ("Sign and publish the next list: apps send their failure reports to that address.", "tumbler release"),
        ("Send a report of your own to that address: this page shows it.", Self.testReport)
    )

    /// To the first target of alarms, of a service under systemd.
    static let target = FirstSteps(
        (
            "As root, write the address of a Slack webhook into a file; Control-D ends it.",
            "install -m 0600 /dev/stdin /etc/tumbler/secrets/slack-url"
        ),
        (
            """
            Write alerts: [{type: slack, urlFile: /run/credentials/tumbler.service/secret_slack-url}] into the \
            configuration, and look at what the service reads.
            """,
            "tumbler serve --print-config --config /etc/tumbler/tumbler-service.yaml"
        ),
        ("Restart the service: then a button on this page sends a test.", "systemctl restart tumbler.service")
    )

    /// To the first certificate of a log.
    static let certificate = FirstSteps(
        (
            "On this machine, make the file of a token for the monitor, and take it there.",
            "(umask 077 && tumbler token create --scope probe --name com.example.app >monitor.token)"
        ),
        (
            "Hand in a certificate that was found.",
            "tumbler sighting found.pem --name com.example.app --server https://SERVICE --token-file monitor.token"
        ),
        (
            "Then let certspotter do so for every new one: its hook is this.",
            "tumbler sighting --from certspotter --name com.example.app --server https://SERVICE --token-file monitor.token"
        )
    )

    /// To the first plan of a rotation.
    static let rotation = FirstSteps(
        ("Make the plan of a host in the project.", "tumbler rotate plan api.example.com"),
        ("Read what is missing for its next state.", "tumbler rotate status api.example.com"),
        ("Take the next step when the gate says that it is safe.", "tumbler rotate next api.example.com")
    )

    /// The steps as a list.
    var markup: Markup {
        let items = self.steps.map { step -> Markup in
            "<li><p>\(step.words)</p><p>\(DigestText.whole(step.command))</p></li>"
        }
        return "<ol class=\"steps\">\(Markup.join(items))</ol>"
    }
}
